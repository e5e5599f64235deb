//! Where decisions are made: in this process, or in Redis.

mod embedded;
#[cfg(test)]
pub(crate) mod late;
#[cfg(feature = "redis")]
pub(crate) mod redis;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use smallvec::SmallVec;

use crate::algo::Resolution;
use crate::error::StoreError;
use crate::rule::Check;

pub use crate::algo::{Answer, Answers, Timestamp};
pub use embedded::Embedded;

/// For each check, in their order, when it was charged, on the store's clock; `None` if it was not, or
/// if that charge cannot be refunded.
pub type Charges = SmallVec<[Option<Timestamp>; 1]>;

/// A charge that is to be refunded, because its caller left before the call could run.
#[derive(Clone, Debug)]
pub struct Charged<'a> {
    /// What was charged.
    pub check: Check<'a>,
    /// When, as the store said.
    pub at: Timestamp,
    /// How long after `at` the call is certain to be in the queue of a leaky bucket, if it was there
    /// when its caller left. By the store's clock it may be there no more: its charge has leaked then.
    pub queued_for: Option<Duration>,
}

impl Charged<'_> {
    /// Until when the call is in line, on a clock of that resolution.
    pub(crate) fn queued_until(&self, resolution: Resolution) -> Option<Timestamp> {
        let ticks =
            |ms: u128| u64::try_from(ms).unwrap_or(u64::MAX).saturating_mul(resolution.per_ms());
        Some(self.at.saturating_add_unsigned(ticks(self.queued_for?.as_millis())))
    }
}

/// The answer to a check, from that to the same check with a cost of 0.
fn foreseen(check: &Check<'_>, look: Answer) -> Answer {
    let cost = check.cost();
    let is_soon =
        check.max_delay().is_none_or(|most| u128::from(look.delay_ms) <= most.as_millis());
    if cost == 0 || (cost <= look.remaining && is_soon) {
        return look;
    }
    let retry_after_ms = (cost <= look.limit).then_some(look.reset_after_ms);
    Answer { admitted: false, retry_after_ms, delay_ms: 0, ..look }
}

/// A future in a box, so that stores can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides lists of checks, all or nothing: if every enforced check admits, every check that admits
/// is charged; else none is.
///
/// A store knows no policy: no deadline, no fallback, no metrics. The [`Limiter`](crate::Limiter)
/// has those, and it has looked at the checks before: there is at least one, none of a rule that is
/// off, and no two of one rule and key.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Decides at once, if that takes no waiting; `None` if it does.
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        let _ = checks;
        None
    }

    /// Decides.
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>>;

    /// As [`decide_now`](Self::decide_now), and says what was charged, for a [`refund`](Self::refund).
    fn charge_now(&self, checks: &[Check<'_>]) -> Option<Result<(Answers, Charges), StoreError>> {
        let unknown = |answers: Answers| (answers, checks.iter().map(|_| None).collect());
        Some(self.decide_now(checks)?.map(unknown))
    }

    /// As [`decide`](Self::decide), and says what was charged, for a [`refund`](Self::refund).
    fn charge<'a>(
        &'a self,
        checks: &'a [Check<'a>],
    ) -> BoxFuture<'a, Result<(Answers, Charges), StoreError>> {
        Box::pin(async move {
            let answers = self.decide(checks).await?;
            Ok((answers, checks.iter().map(|_| None).collect()))
        })
    }

    /// Refunds charges of one call, as far as that is certain to leave no more than there would be
    /// without them. Does not wait, and does not fail: what cannot be refunded stays charged. A store
    /// that does not know how, which is the default, says of no check that it was charged.
    fn refund(&self, charged: &[Charged<'_>]) {
        let _ = charged;
    }

    /// What [`decide`](Self::decide) would answer now. Charges nothing.
    ///
    /// A store that does not say so itself is asked with a cost of 0, and what that leaves out is worked out:
    /// whether a call is admitted from what remains, and the wait for one that is not is the one until the key
    /// is fully replenished, which is enough, and may be too long.
    fn peek<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            let looks: SmallVec<[Check<'_>; 1]> =
                checks.iter().map(|check| check.clone().with_cost(0)).collect();
            let answers = match self.decide_now(&looks) {
                Some(answers) => answers?,
                None => self.decide(&looks).await?,
            };
            Ok(checks.iter().zip(answers).map(|(check, answer)| foreseen(check, answer)).collect())
        })
    }

    /// Forgets what is used of the key of a check. `true` if there was anything to forget.
    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Whether checks of one rule and key in two [groups](Check::with_group) are two budgets. `false` unless
    /// the store says otherwise.
    fn separates_groups(&self) -> bool {
        false
    }

    /// Says whether the store can answer; waits for its first attempt to connect.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}
