//! What decides when the store does not answer: an embedded store with this instance's share.

use std::num::NonZeroU32;
use std::time::Duration;

use once_cell::sync::OnceCell;
use smallvec::SmallVec;

use crate::algo::MAX_SPAN_US;
use crate::clock::Clock;
use crate::error::{ConfigError, StoreError};
use crate::rule::{Algorithm, Check, Rate};
use crate::store::{Answers, Charged, Charges, Embedded, Store};

/// An embedded store that is made at the first failure and kept from then on: a server that comes
/// and goes does not hand out a new share every time.
#[derive(Debug)]
pub(super) struct Fallback {
    store: OnceCell<Embedded>,
    max_keys: usize,
    clock: Clock,
    replicas: NonZeroU32,
}

impl Fallback {
    pub(super) fn new(max_keys: usize, clock: Clock, replicas: NonZeroU32) -> Self {
        Self { store: OnceCell::new(), max_keys, clock, replicas }
    }

    fn store(&self) -> &Embedded {
        self.store.get_or_init(|| {
            Embedded::new().with_max_keys(self.max_keys).with_clock(self.clock.clone())
        })
    }

    fn shares<'r>(&self, checks: &[Check<'r>]) -> SmallVec<[Check<'r>; 2]> {
        checks.iter().map(|check| self.share(check)).collect()
    }

    /// What [`decide`](Self::decide) would decide.
    pub(super) fn peek(&self, checks: &[Check<'_>]) -> Result<Answers, ConfigError> {
        match self.store().look(&self.shares(checks)) {
            Ok(answers) => Ok(answers),
            Err(StoreError::Config(error)) => Err(error),
            // An embedded store fails in no other way.
            Err(_) => Ok(Answers::new()),
        }
    }

    pub(super) fn decide(&self, checks: &[Check<'_>]) -> Result<(Answers, Charges), ConfigError> {
        match self.store().charge_now(&self.shares(checks)) {
            Some(Ok(decided)) => Ok(decided),
            Some(Err(StoreError::Config(error))) => Err(error),
            // An embedded store fails in no other way.
            Some(Err(_)) | None => Ok((Answers::new(), Charges::new())),
        }
    }

    /// The store of the limiter answers: what is kept here leaves when its time has come.
    #[inline]
    pub(super) fn tidy(&self) {
        if let Some(store) = self.store.get() {
            store.tidy();
        }
    }

    /// Refunds what [`decide`](Self::decide) charged.
    pub(super) fn refund(&self, charged: &[Charged<'_>]) {
        let Some(store) = self.store.get() else { return };
        let shares: SmallVec<[Charged<'_>; 2]> = charged
            .iter()
            .map(|charged| Charged { check: self.share(&charged.check), ..charged.clone() })
            .collect();
        store.refund(&shares);
    }

    /// The check with this instance's share of the limit.
    fn share<'r>(&self, check: &Check<'r>) -> Check<'r> {
        check.clone().with_algorithm(share(check.algorithm(), self.replicas))
    }

    /// Whether there was anything to forget.
    pub(super) async fn reset(&self, check: &Check<'_>) -> bool {
        match self.store.get() {
            // Nothing but a rule that no store can decide fails here, and the caller hears of that.
            Some(store) => store.reset(&self.share(check)).await.unwrap_or(false),
            None => false,
        }
    }
}

/// One replica's share of a rule: at least 1 of what is not 0, and a rate that is so much slower.
fn share(mut algorithm: Algorithm, replicas: NonZeroU32) -> Algorithm {
    let limit = algorithm.limit_mut();
    *limit = limit.div_ceil(replicas.get().into());
    if let Some(rate) = algorithm.rate_mut() {
        // As slow as a rate can be, if it would be slower than that.
        let longest = Duration::from_micros(MAX_SPAN_US).max(rate.period());
        let period = rate.period().saturating_mul(replicas.get()).min(longest);
        *rate = Rate::new(rate.permits(), period);
    }
    algorithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_and_its_rate_is_exact() {
        let replicas = NonZeroU32::new(3).unwrap();
        let algorithm = Algorithm::TokenBucket { capacity: 10, refill: Rate::per_second(5) };
        let refill = Rate::new(5, Duration::from_secs(3));
        assert_eq!(share(algorithm, replicas), Algorithm::TokenBucket { capacity: 4, refill });
        let zero = Algorithm::TokenBucket { capacity: 0, refill: Rate::per_second(5) };
        assert_eq!(share(zero, replicas).limit(), 0);
    }

    #[test]
    fn a_share_of_the_slowest_rate_is_a_rate() {
        let refill = Rate::new(1, Duration::from_micros(MAX_SPAN_US));
        let algorithm = Algorithm::TokenBucket { capacity: 10, refill };
        let share = share(algorithm, NonZeroU32::MAX);
        assert_eq!(share, Algorithm::TokenBucket { capacity: 1, refill });
    }
}
