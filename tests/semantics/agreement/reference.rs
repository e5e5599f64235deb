//! The arithmetic, as a limiter of one key.

use std::time::Duration;

use ratelimit_kit::{Check, Outcome};
use ratelimit_runtime::__private::algo::{self, Answer, LeakyState, Plan, Resolution, TokenState};

/// A bucket of one resolution.
#[derive(Debug)]
pub(super) struct Reference {
    resolution: Resolution,
    tokens: Option<TokenState>,
    level: Option<LeakyState>,
}

impl Reference {
    pub(super) fn new(resolution: Resolution) -> Self {
        Self { resolution, tokens: None, level: None }
    }

    pub(super) fn hit(&mut self, check: &Check<'_>, now: Duration) -> Answer {
        let ticks = match self.resolution {
            Resolution::Nanos => now.as_nanos(),
            Resolution::Micros => now.as_micros(),
        };
        let (now, cost) = (ticks.try_into().unwrap(), check.cost());
        match ratelimit_runtime::__private::plan(check, self.resolution).unwrap() {
            Plan::TokenBucket(bucket) => algo::hit(&bucket, &mut self.tokens, now, cost),
            Plan::LeakyBucket(bucket) => algo::hit(&bucket, &mut self.level, now, cost),
            other => panic!("{other:?} is no bucket"),
        }
    }
}

/// The numbers of an outcome.
pub(crate) fn answer(outcome: &Outcome) -> Answer {
    let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap();
    Answer {
        admitted: outcome.is_admitted(),
        limit: outcome.limit(),
        remaining: outcome.remaining(),
        retry_after_ms: outcome.retry_after().map(ms),
        reset_after_ms: ms(outcome.reset_after()),
        delay_ms: ms(outcome.delay()),
    }
}
