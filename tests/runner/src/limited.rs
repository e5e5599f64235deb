//! A limiter on a store, through its public face.

use std::collections::HashMap;
use std::time::Duration;

use ratelimit_runtime::__private::algo::{Answer, MAX_SPAN_US};
use ratelimit_runtime::{
    Algorithm, Check, Clock, Decision, InvalidCall, Limiter, LimiterBuilder, ManualClock, OnError,
    Outcome, Rate, RateLimitError, Rule,
};

use crate::subject::Subject;

/// Whether a call is one check or one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// A check alone: in Redis, the script of its algorithm.
    Alone,
    /// A list of the check and a companion that admits every call: in Redis, the script for lists.
    /// The companion's answers are compared too: it is charged exactly when the list is admitted.
    Accompanied,
    /// The same in one group: on a Redis Cluster, one script call for both checks.
    Grouped,
}

/// A limiter with a clock that the vectors set.
pub struct Limited {
    name: String,
    tick: Duration,
    listing: Listing,
    clock: ManualClock,
    /// The limiter that serves all scenarios; `None`: each gets an embedded store of its own.
    lasting: Option<Limiter>,
    /// What all rules of this subject begin with: a server has keys of earlier runs.
    run: String,
    started: Option<Started>,
}

impl Limited {
    /// An embedded store, a new one for each scenario.
    pub fn embedded(listing: Listing) -> Self {
        Self::new("embedded store", Duration::from_nanos(1), listing)
    }

    /// A Redis, by its URL, under a name for the report. `run` makes the names of the keys
    /// different from those of every other run; the keys expire.
    pub fn redis(name: &str, url: &str, listing: Listing, run: &str) -> Result<Self, String> {
        let mut subject = Self::new(name, Duration::from_micros(1), listing);
        run.clone_into(&mut subject.run);
        let limiter = build(Limiter::builder().redis(url), &subject.clock)?;
        // Found out once, and not by every scenario.
        let rule = Companion::new(format!("{run} first look")).rule;
        let look = limiter.check_blocking(&Check::new(&rule, "key").with_cost(0));
        look.map_err(|error| match error {
            RateLimitError::Unavailable(unavailable) => unavailable.cause().to_string(),
            error => error.to_string(),
        })?;
        subject.lasting = Some(limiter);
        Ok(subject)
    }

    fn new(name: &str, tick: Duration, listing: Listing) -> Self {
        let name = match listing {
            Listing::Alone => name.to_owned(),
            Listing::Accompanied => format!("{name}, lists"),
            Listing::Grouped => format!("{name}, groups"),
        };
        let (clock, run) = (ManualClock::new(), String::new());
        Self { name, tick, listing, clock, lasting: None, run, started: None }
    }
}

fn build(builder: LimiterBuilder, clock: &ManualClock) -> Result<Limiter, String> {
    builder
        .clock(Clock::Manual(clock.clone()))
        // An answer that another store gave instead would prove nothing.
        .on_error(OnError::Closed)
        .deadline(Duration::from_secs(3))
        .build()
        .map_err(|e| e.to_string())
}

impl Subject for Limited {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn tick(&self) -> Duration {
        self.tick
    }

    fn declines(&self, algorithm: &Algorithm) -> Option<String> {
        let span = match *algorithm {
            Algorithm::TokenBucket { refill: rate, .. }
            | Algorithm::LeakyBucket { leak: rate, .. } => rate.period(),
            _ => return None,
        };
        (span.as_micros() > u128::from(MAX_SPAN_US))
            .then(|| "its period is longer than a rule can have".to_owned())
    }

    fn start(&mut self, id: &str, algorithm: Algorithm) -> Result<(), String> {
        let limiter = match &self.lasting {
            Some(limiter) => limiter.clone(),
            None => build(Limiter::builder(), &self.clock)?,
        };
        let companion = (self.listing != Listing::Alone)
            .then(|| Companion::new(format!("{} {id} beside", self.run)));
        let rule = Rule::named(format!("{} {id} {:?}", self.run, self.listing), algorithm);
        let grouped = self.listing == Listing::Grouped;
        self.started = Some(Started { limiter, rule, companion, grouped });
        Ok(())
    }

    fn hit(&mut self, key: &str, now: Duration, cost: u64) -> Result<Answer, String> {
        self.clock.set(now);
        self.started.as_mut().ok_or("there is no limiter yet")?.hit(key, cost)
    }
}

/// The limiter of one scenario.
struct Started {
    limiter: Limiter,
    rule: Rule,
    companion: Option<Companion>,
    /// Whether a key is the group of its checks.
    grouped: bool,
}

/// Why there is no answer.
enum Failure {
    /// The limiter calls it a mistake before it asks the store.
    CostExceeds {
        limit: u64,
    },
    Other(String),
}

impl Started {
    fn hit(&mut self, key: &str, cost: u64) -> Result<Answer, String> {
        match self.decide(key, cost) {
            Ok(answer) => Ok(answer),
            Err(Failure::Other(why)) => Err(why),
            // The vectors say what such a call is told; what is left, a look at the key tells.
            Err(Failure::CostExceeds { limit }) => match self.decide(key, 0) {
                Ok(look) => {
                    Ok(Answer { admitted: false, limit, retry_after_ms: None, delay_ms: 0, ..look })
                }
                Err(Failure::Other(why)) => Err(why),
                Err(Failure::CostExceeds { .. }) => Err("a look costs too much".to_owned()),
            },
        }
    }

    fn decide(&mut self, key: &str, cost: u64) -> Result<Answer, Failure> {
        let check = Check::new(&self.rule, key).with_cost(cost);
        let Some(companion) = &mut self.companion else {
            let decision = outcome_of(self.limiter.check_blocking(&check))?;
            return match decision.outcomes() {
                [mine] => Ok(answer(mine)),
                other => Err(Failure::Other(format!("{} outcomes for one check", other.len()))),
            };
        };
        // It goes first in every other call: the place in a list must not matter.
        let first = companion.goes_first();
        let beside = Check::new(&companion.rule, key);
        let [check, beside] = if self.grouped {
            [check, beside].map(|check| check.with_group(key))
        } else {
            [check, beside]
        };
        let list = if first { [beside, check] } else { [check, beside] };
        let decision = outcome_of(self.limiter.check_all_blocking(&list))?;
        let (mine, beside) = match (decision.outcomes(), first) {
            ([beside, mine], true) | ([mine, beside], false) => (mine, beside),
            (other, _) => {
                return Err(Failure::Other(format!("{} outcomes for two checks", other.len())));
            }
        };
        companion.verify(key, beside, mine.is_admitted()).map_err(Failure::Other)?;
        Ok(answer(mine))
    }
}

/// The decision, whether it admits or refuses.
fn outcome_of(result: Result<Decision, RateLimitError>) -> Result<Decision, Failure> {
    let decision = match result {
        Ok(decision) if decision.is_admitted() => decision,
        Ok(_) => return Err(Failure::Other("a refusal was returned as Ok".to_owned())),
        Err(RateLimitError::Limited(refusal)) if !refusal.decision().is_admitted() => {
            refusal.decision().clone()
        }
        Err(RateLimitError::Limited(_)) => {
            return Err(Failure::Other("an admission was returned as a refusal".to_owned()));
        }
        Err(RateLimitError::Invalid(InvalidCall::CostExceedsCapacity { limit, .. })) => {
            return Err(Failure::CostExceeds { limit });
        }
        Err(error) => return Err(Failure::Other(error.to_string())),
    };
    match decision.degraded() {
        None => Ok(decision),
        Some(degraded) => Err(Failure::Other(format!("the decision is degraded: {degraded:?}"))),
    }
}

fn answer(outcome: &Outcome) -> Answer {
    Answer {
        admitted: outcome.is_admitted(),
        limit: outcome.limit(),
        remaining: outcome.remaining(),
        retry_after_ms: outcome.retry_after().map(whole_ms),
        reset_after_ms: whole_ms(outcome.reset_after()),
        delay_ms: whole_ms(outcome.delay()),
    }
}

/// Answers are whole milliseconds; were one not, this would make it differ.
fn whole_ms(span: Duration) -> u64 {
    let whole = span.subsec_nanos().is_multiple_of(1_000_000);
    if whole { u64::try_from(span.as_millis()).unwrap_or(u64::MAX) } else { u64::MAX }
}

/// The second rule of a list. It has room for every call, and so slow a refill that none is seen
/// within a scenario: what is left tells how often it was charged.
struct Companion {
    rule: Rule,
    calls: u64,
    /// How often it was charged, per key.
    charged: HashMap<String, u64>,
}

impl Companion {
    const CAPACITY: u64 = 1_000_000;

    fn new(name: String) -> Self {
        let refill = Rate::new(1, Duration::from_micros(MAX_SPAN_US));
        let algorithm = Algorithm::TokenBucket { capacity: Self::CAPACITY, refill };
        Self { rule: Rule::named(name, algorithm), calls: 0, charged: HashMap::new() }
    }

    fn goes_first(&mut self) -> bool {
        self.calls += 1;
        self.calls % 2 == 1
    }

    /// Charged when the list was admitted, and only then; never the reason of a refusal.
    fn verify(&mut self, key: &str, got: &Outcome, admitted: bool) -> Result<(), String> {
        let charged = self.charged.entry(key.to_owned()).or_default();
        *charged += u64::from(admitted);
        let expected = Self::CAPACITY - *charged;
        if got.is_admitted() && got.limit() == Self::CAPACITY && got.remaining() == expected {
            return Ok(());
        }
        Err(format!("the second rule of the list should be admitted with {expected} left: {got:?}"))
    }
}
