//! The bare arithmetic, without a store.

use std::collections::HashMap;
use std::time::Duration;

use ratelimit_runtime::__private::algo::{
    self, Answer, Arithmetic as Decides, Flow, LeakyBucket, Plan, Resolution, Timestamp,
    TokenBucket,
};
use ratelimit_runtime::Algorithm;

use crate::subject::Subject;

/// The algorithms themselves, at the resolution of one of the stores.
pub struct Arithmetic {
    resolution: Resolution,
    limiter: Option<Box<dyn Limiter>>,
}

impl Arithmetic {
    /// The arithmetic of the embedded store (nanoseconds) or of Redis (microseconds).
    pub fn new(resolution: Resolution) -> Self {
        Self { resolution, limiter: None }
    }
}

impl Subject for Arithmetic {
    fn name(&self) -> String {
        format!("arithmetic in {:?}", self.resolution).to_lowercase()
    }

    fn tick(&self) -> Duration {
        match self.resolution {
            Resolution::Micros => Duration::from_micros(1),
            Resolution::Nanos => Duration::from_nanos(1),
        }
    }

    fn start(&mut self, _id: &str, algorithm: Algorithm) -> Result<(), String> {
        let plan = Plan::new(algorithm, self.resolution).or_else(|why| {
            longer_than_allowed(algorithm, self.resolution).ok_or(why.to_string())
        })?;
        self.limiter = Some(match plan {
            Plan::TokenBucket(bucket) => fresh(bucket),
            Plan::LeakyBucket(bucket) => fresh(bucket),
            Plan::FixedWindow(window) => fresh(window),
            Plan::SlidingLog(log) => fresh(log),
            Plan::SlidingCounter(counter) => fresh(counter),
            _ => return Err(format!("the runner does not know {algorithm:?}")),
        });
        Ok(())
    }

    fn hit(&mut self, key: &str, now: Duration, cost: u64) -> Result<Answer, String> {
        let ticks = now.as_nanos() / self.tick().as_nanos();
        let now = Timestamp::try_from(ticks).map_err(|_| format!("{now:?} is too late"))?;
        let limiter = self.limiter.as_mut().ok_or("there is no limiter yet")?;
        Ok(limiter.hit(key, now, cost))
    }
}

/// A bucket with a period that no rule may have, and that the vectors want from the arithmetic.
fn longer_than_allowed(algorithm: Algorithm, resolution: Resolution) -> Option<Plan> {
    let flow = |capacity, rate: ratelimit_runtime::Rate| {
        let period_us = u64::try_from(rate.period().as_micros()).ok()?;
        (period_us > algo::MAX_SPAN_US)
            .then(|| Flow::new(capacity, rate.permits(), period_us, resolution))
    };
    match algorithm {
        Algorithm::TokenBucket { capacity, refill } => {
            flow(capacity, refill).map(|flow| Plan::TokenBucket(TokenBucket(flow)))
        }
        Algorithm::LeakyBucket { capacity, leak } => {
            flow(capacity, leak).map(|flow| Plan::LeakyBucket(LeakyBucket { flow, longest: None }))
        }
        _ => None,
    }
}

/// An algorithm with its keys, whatever its state is.
trait Limiter {
    fn hit(&mut self, key: &str, now: Timestamp, cost: u64) -> Answer;
}

struct Keyed<A: Decides> {
    algorithm: A,
    states: HashMap<String, Option<A::State>>,
}

fn fresh<A>(algorithm: A) -> Box<dyn Limiter>
where
    A: Decides + 'static,
    A::State: 'static,
{
    Box::new(Keyed { algorithm, states: HashMap::new() })
}

impl<A: Decides> Limiter for Keyed<A> {
    fn hit(&mut self, key: &str, now: Timestamp, cost: u64) -> Answer {
        let state = self.states.entry(key.to_owned()).or_default();
        algo::hit(&self.algorithm, state, now, cost)
    }
}
