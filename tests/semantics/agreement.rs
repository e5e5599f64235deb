//! The embedded store and Redis, asked the same at the same instants, answer alike: random rules,
//! costs, numbers that change from call to call, and clocks that step on and back.
//!
//! The random calls are the same in every run. `RATELIMIT_SEED` gives others.

pub(crate) mod random;
pub(crate) mod reference;

use std::env;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ratelimit_kit::{
    Check, Clock, Decision, InvalidCall, Limiter, ManualClock, Mode, Outcome, RateLimitError, Rule,
};
use ratelimit_runtime::__private::algo::Resolution;
use test_support::{Flavor, Server};

use self::random::Change;
use self::reference::Reference;
use test_stage::algorithms::{Kind, ms, rule, secs};
use test_stage::machine;
use test_stage::stage::{ORIGIN, block_on, on_server};

/// Random calls of each kind.
const CALLS: usize = 10_000;

/// How long the embedded store keeps what is as good as new when the clock is a caller's. (Redis
/// keeps its keys as long, by its own clock, on which this takes seconds.)
const GRACE: Duration = secs(60);

/// What is as good as new by the numbers of one call may not be so by those of the next. When it is
/// after this time by all of them, nothing is forgotten too early.
const SHORT: Duration = secs(50);

/// Every algorithm alone: 10,000 calls with numbers that change and clocks that step.
#[test]
fn both_stores_agree_on_every_algorithm() {
    in_parallel(Kind::ALL.map(|kind| {
        move |twins: &mut Twins| {
            while twins.calls < CALLS {
                twins.alone(kind);
            }
        }
    }));
}

/// The same, for fewer calls, on the other servers: their Lua writes numbers in other ways.
#[test]
fn all_servers_agree_on_every_algorithm() {
    for flavor in [Flavor::Redis8, Flavor::Valkey8] {
        let server = Server::start(flavor);
        in_parallel_on(
            &server,
            Kind::ALL.map(|kind| {
                move |twins: &mut Twins| {
                    while twins.calls < CALLS / 10 {
                        twins.alone(kind);
                        twins.list();
                    }
                }
            }),
        );
    }
}

/// Lists of several algorithms, with rules that only watch.
#[test]
fn both_stores_agree_on_lists() {
    in_parallel([(); 4].map(|()| {
        |twins: &mut Twins| {
            while twins.calls < CALLS / 4 {
                twins.list();
            }
        }
    }));
}

/// A new rate changes the unit in which a bucket counts, and what is kept is rounded to it. Units
/// of nanoseconds and of microseconds are not the same, so a wait may differ then by a millisecond:
/// here each store is compared with the arithmetic of its own resolution.
#[test]
fn both_stores_agree_with_the_arithmetic_when_rates_change() {
    in_parallel([Kind::TokenBucket, Kind::LeakyBucket].map(|kind| {
        move |twins: &mut Twins| {
            while twins.calls < CALLS {
                twins.beside_the_arithmetic(kind);
            }
        }
    }));
}

fn in_parallel<const N: usize>(runs: [impl Fn(&mut Twins) + Send; N]) {
    in_parallel_on(Server::shared(Flavor::Installed), runs);
}

/// Runs each with twins of its own, all at once.
fn in_parallel_on<const N: usize>(server: &Server, runs: [impl Fn(&mut Twins) + Send; N]) {
    let _loud = machine::loud();
    let seed = env::var("RATELIMIT_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    thread::scope(|scope| {
        for (number, run) in (0_u64..).zip(runs) {
            scope.spawn(move || {
                let mut twins = Twins::new(server, seed * 1_000 + number);
                run(&mut twins);
                // The random calls are worth something.
                let Twins { calls, refused, .. } = twins;
                assert!(
                    refused > calls / 32 && refused < calls / 2,
                    "{refused} of {calls} refused"
                );
            });
        }
    });
}

/// Two limiters on one clock, and what they are asked.
struct Twins {
    embedded: Limiter,
    redis: Limiter,
    clock: ManualClock,
    rng: Rng,
    /// How often they were asked, and how often that was refused.
    calls: usize,
    refused: usize,
    /// What calls change of their rules.
    change: Change,
    now: Duration,
    /// The latest instant since all that is used was used.
    latest: Duration,
    /// Whether the last call was charged to all that is used.
    fresh: bool,
    /// The longest recovery of the rules in use.
    span: Duration,
    /// What the last outcomes said of later times.
    waits: Vec<Duration>,
}

impl Twins {
    fn new(server: &Server, seed: u64) -> Self {
        let clock = ManualClock::new();
        let manual = || Clock::Manual(clock.clone());
        Self {
            embedded: Limiter::builder().clock(manual()).build().unwrap(),
            redis: on_server(server).clock(manual()).build().unwrap(),
            clock,
            rng: Rng::with_seed(seed),
            calls: 0,
            refused: 0,
            change: Change::Limit,
            now: ORIGIN,
            latest: ORIGIN,
            fresh: true,
            span: Duration::ZERO,
            waits: Vec::new(),
        }
    }

    /// Many calls of one rule.
    fn alone(&mut self, kind: Kind) {
        let change = self.any_change();
        let rule = self.start([kind], change).remove(0);
        for _ in 0..self.length() {
            self.step();
            let check = self.random_check(&rule);
            let outcomes = self.ask(std::slice::from_ref(&check));
            self.learn(&[check], 1, &outcomes);
            if self.rng.u8(..) < 5 {
                self.reset(&rule);
            }
        }
    }

    /// Many calls of two or three rules, not always of all.
    fn list(&mut self) {
        let kinds: Vec<Kind> = (0..self.rng.usize(2..=3)).map(|_| self.any_kind()).collect();
        let change = self.any_change();
        let rules = self.start(kinds, change);
        for _ in 0..self.length() {
            self.step();
            let mut checks: Vec<Check<'_>> =
                rules.iter().map(|rule| self.random_check(rule)).collect();
            self.rng.shuffle(&mut checks);
            if self.rng.u8(..) < 25 {
                checks.pop();
            }
            let outcomes = self.ask(&checks);
            self.learn(&checks, rules.len(), &outcomes);
        }
    }

    /// Many calls of one bucket, each answered by the arithmetic as well.
    fn beside_the_arithmetic(&mut self, kind: Kind) {
        let rule = self.start([kind], Change::Any).remove(0);
        let mut nanos = Reference::new(Resolution::Nanos);
        let mut micros = Reference::new(Resolution::Micros);
        for _ in 0..self.length() {
            self.step();
            self.calls += 1;
            let check = self.random_check(&rule);
            let embedded = Told::from(self.embedded.check_blocking(&check));
            let redis = Told::from(self.redis.check_blocking(&check));
            for (told, reference) in [(&embedded, &mut nanos), (&redis, &mut micros)] {
                if let [outcome] = told.outcomes() {
                    let expected = reference.hit(&check, self.now);
                    let got = reference::answer(outcome);
                    assert_eq!(got, expected, "{reference:?}, at {:?}: {check:#?}", self.now);
                }
            }
            assert_eq!(embedded.outcomes().len(), redis.outcomes().len(), "{check:#?}");
            self.refused += usize::from(matches!(redis, Told::Refused(_)));
            self.learn(&[check], 1, redis.outcomes());
        }
    }

    /// New rules, at a new time.
    fn start(&mut self, kinds: impl IntoIterator<Item = Kind>, change: Change) -> Vec<Rule> {
        self.change = change;
        self.now = ORIGIN + Duration::from_micros(self.rng.u64(..100_000_000_000));
        self.latest = self.now;
        self.fresh = true;
        self.span = Duration::ZERO;
        self.waits.clear();
        let mut rules = Vec::new();
        for kind in kinds {
            let algorithm = loop {
                let algorithm = random::algorithm(&mut self.rng, kind);
                if self.change == Change::Limit || random::recovery(algorithm) <= SHORT {
                    break algorithm;
                }
            };
            self.span = self.span.max(random::recovery(algorithm));
            let mode = if self.rng.u8(..) < 60 { Mode::Shadow } else { Mode::Enforce };
            rules.push(rule(algorithm).with_mode(mode));
        }
        rules
    }

    /// How many calls there are for one key: some that have many make a log forget.
    fn length(&mut self) -> usize {
        if self.rng.u8(..) < 12 { 600 } else { self.rng.usize(20..=60) }
    }

    fn any_change(&mut self) -> Change {
        if self.rng.bool() { Change::Limit } else { Change::WithinTheUnit }
    }

    fn any_kind(&mut self) -> Kind {
        Kind::ALL[self.rng.usize(..Kind::ALL.len())]
    }

    fn random_check<'r>(&mut self, rule: &'r Rule) -> Check<'r> {
        let mut check = Check::new(rule, "key");
        if self.rng.u8(..) < 40 {
            let numbers = random::changed(&mut self.rng, rule.algorithm().unwrap(), self.change);
            if self.change == Change::Limit || random::recovery(numbers) <= SHORT {
                check = check.with_algorithm(numbers);
            }
        }
        if self.rng.u8(..) < 40 {
            check = check.with_max_delay(ms(self.rng.u64(..3_000)));
        }
        let cost = random::cost(&mut self.rng, check.algorithm().limit());
        check.with_cost(cost)
    }

    /// Asks both the same; they must agree on every field of every outcome.
    fn ask(&mut self, checks: &[Check<'_>]) -> Vec<Outcome> {
        self.calls += 1;
        let embedded = Told::from(self.embedded.check_all_blocking(checks));
        let redis = Told::from(self.redis.check_all_blocking(checks));
        // As text: no field can be forgotten, now or later.
        if format!("{embedded:?}") != format!("{redis:?}") {
            let asked = format!("at {:?}: {checks:#?}", self.now);
            panic!("{asked}\nembedded: {embedded:#?}\nRedis: {redis:#?}");
        }
        self.refused += usize::from(matches!(redis, Told::Refused(_)));
        redis.outcomes().to_vec()
    }

    fn reset(&self, rule: &Rule) {
        for limiter in [&self.embedded, &self.redis] {
            block_on(limiter.reset(&Check::new(rule, "key"))).unwrap();
        }
    }

    /// Moves the clock on, or back.
    fn step(&mut self) {
        let span = u64::try_from(self.span.as_micros()).unwrap();
        let wait = self.rng.choice(&self.waits).copied().unwrap_or_default();
        let choice = self.rng.u8(..20);
        let (from, to) = match choice {
            4..10 => (0, span / 4),
            10..12 => (0, span * 3),
            12 => (0, span / 3),
            13 => (0, span * 4),
            _ => (0, 0),
        };
        let by = Duration::from_micros(self.rng.u64(from..=to));
        let target = match choice {
            12 | 13 => {
                // What may be forgotten is left alone. If all was just used, nothing is.
                let safe = if self.change == Change::Limit { GRACE } else { GRACE - SHORT };
                let limit = self.latest.saturating_sub(safe);
                let limit = if self.fresh { Duration::ZERO } else { limit };
                self.now.saturating_sub(by).max(limit.min(self.now))
            }
            // As long as somebody was told to wait, or a moment less.
            14..18 => self.now + wait,
            18.. => self.now + wait.saturating_sub(ms(1)),
            _ => self.now + by,
        };
        self.now = target.clamp(secs(1), random::LAST);
        self.latest = self.latest.max(self.now);
        self.clock.set(self.now);
    }

    /// What the outcomes of a call mean to the next step, where so many rules are in use.
    ///
    /// Only a call that is charged to all of them lets the clock go back behind what was forgotten:
    /// what it leaves out may have been forgotten at the latest instant.
    fn learn(&mut self, checks: &[Check<'_>], rules: usize, outcomes: &[Outcome]) {
        let charged = |(o, check): (&Outcome, &Check<'_>)| o.is_admitted() && check.cost() > 0;
        self.fresh = outcomes.len() == rules && outcomes.iter().zip(checks).all(charged);
        if self.fresh {
            self.latest = self.now;
        }
        let waits =
            outcomes.iter().flat_map(|o| [o.retry_after().unwrap_or_default(), o.reset_after()]);
        self.waits = waits.filter(|wait| *wait < random::LONGEST).collect();
    }
}

/// What a call was told.
#[derive(Debug)]
enum Told {
    Admitted(Decision),
    Refused(Decision),
    #[expect(dead_code, reason = "compared as text")]
    InvalidCall(InvalidCall),
}

impl Told {
    fn from(result: Result<Decision, RateLimitError>) -> Self {
        match result {
            Ok(decision) => Self::Admitted(decision),
            Err(RateLimitError::Limited(refusal)) => Self::Refused(refusal.decision().clone()),
            Err(RateLimitError::Invalid(mistake)) => Self::InvalidCall(mistake),
            Err(error) => panic!("no answer: {error}"),
        }
    }

    fn outcomes(&self) -> &[Outcome] {
        match self {
            Self::Admitted(decision) | Self::Refused(decision) => decision.outcomes(),
            Self::InvalidCall(_) => &[],
        }
    }
}
