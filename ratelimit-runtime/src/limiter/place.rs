//! The place of a call that was admitted and does not run yet.

use std::borrow::Cow;
#[cfg(feature = "tower")]
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

#[cfg(feature = "tower")]
use super::Question;
use super::{Caller, Limiter, into_result};
use crate::decision::{Decision, RateLimitError};
use crate::degraded::Degraded;
use crate::error::StoreError;
use crate::rule::Check;
#[cfg(feature = "tower")]
use crate::rule::{Rule, SharedCheck};
use crate::store::{Answers, Charged, Charges};
use crate::telemetry;

/// The checks of a call that borrows nothing.
pub(crate) type Checks = SmallVec<[Check<'static>; 1]>;

/// What an admitted call was charged, until it runs: dropped before, its caller has left, and the
/// charge is refunded.
#[derive(Debug)]
#[must_use = "a place that is dropped is refunded"]
pub(crate) struct Place<'r> {
    limiter: Limiter,
    checks: SmallVec<[Check<'r>; 1]>,
    charges: Charges,
    /// How long each check says to wait.
    delays: SmallVec<[Duration; 1]>,
    /// Whether the fallback decided.
    is_local: bool,
    /// How long the call waits for its turn, from so many nanoseconds of the limiter's clock on.
    delay: Duration,
    since_ns: i64,
    /// What [`Resets::mark`](super::resets::Resets::mark) said before the charge.
    mark: u64,
    /// A copy in the child of a fork has nothing to refund.
    process: u32,
}

impl Limiter {
    /// Decides the checks of a call, if that takes no waiting. There is a place if the call has to wait for its
    /// turn; `waits` says whether it may.
    pub(crate) fn try_enter<'r>(
        &self,
        checks: &[Check<'r>],
        waits: bool,
    ) -> Option<Result<(Decision, Option<Place<'r>>), RateLimitError>> {
        let active = match self.valid_checks(checks) {
            Ok(active) if active.is_empty() => return Some(Ok((Decision::unasked(), None))),
            Ok(active) => active,
            Err(mistake) => return Some(Err(self.invalid(checks, mistake))),
        };
        let mark = self.shared.resets.mark();
        let charged = self.shared.store.charge_now(&active)?;
        Some(self.entered(&active, charged).map(|(decision, charges)| {
            let waits = waits && !decision.delay().is_zero();
            let checks = || active.into_owned().into();
            let place = waits.then(|| Place::new(self, checks(), &decision, charges, mark, true));
            (decision, place)
        }))
    }

    /// Decides checks by asking the store, after [`try_enter`](Self::try_enter) or
    /// [`try_check_all`](Self::try_check_all) gave `None` for them. `None` if the caller has left.
    ///
    /// Which checks are active is worked out a second time here: what was found before borrows from checks that
    /// have moved into this future since.
    pub(crate) async fn enter(
        &self,
        checks: Checks,
        waits: bool,
        caller: &Caller,
    ) -> Option<Result<(Decision, Place<'static>), RateLimitError>> {
        let active = self.active_checks(&checks);
        let mark = self.shared.resets.mark();
        let entered = self.ask(&active, waits, caller).await?;
        let filtered = match active {
            Cow::Owned(checks) => Some(checks),
            Cow::Borrowed(_) => None,
        };
        let checks = filtered.map_or(checks, Into::into);
        Some(entered.map(|(decision, charges)| {
            let place = Place::new(self, checks, &decision, charges, mark, waits);
            (decision, place)
        }))
    }

    /// As [`enter`](Self::enter), for checks of rules that are shared. There is no place if the call may
    /// run at once.
    #[cfg(feature = "tower")]
    pub(crate) async fn enter_shared<'r>(
        &self,
        rules: &[&Arc<Rule>],
        checks: &[Check<'r>],
        waits: bool,
    ) -> Result<Option<Place<'r>>, RateLimitError> {
        let mark = self.shared.resets.mark();
        // Borrows nothing: who leaves does not take it along.
        let shared = checks.iter().zip(rules).map(|(check, rule)| check.shared(rule));
        let (shared, limiter): (Vec<SharedCheck>, _) = (shared.collect(), self.clone());
        let (decision, charges) = Question::new(|caller| async move {
            let checks: Vec<Check<'_>> = shared.iter().map(SharedCheck::check).collect();
            limiter.ask(&limiter.active_checks(&checks), waits, &caller).await
        })
        .await?;
        if !waits || decision.delay().is_zero() {
            return Ok(None);
        }
        let checks = self.active_checks(checks).into_owned().into();
        Ok(Some(Place::new(self, checks, &decision, charges, mark, true)))
    }

    /// Asks the store. Where the caller has left meanwhile, what was charged is refunded, and that is all:
    /// the call is neither counted nor reported.
    async fn ask(
        &self,
        checks: &[Check<'_>],
        waits: bool,
        caller: &Caller,
    ) -> Option<Result<(Decision, Charges), RateLimitError>> {
        let mark = self.shared.resets.mark();
        let asking = telemetry::Asking::new();
        let charged = self.in_time(self.shared.store.charge(checks)).await;
        if caller.has_left() {
            asking.leave();
            if let Ok((answers, charges)) = charged
                && let decision = Decision::new(checks, &answers)
                && decision.is_admitted()
            {
                let queued_for = decision
                    .outcomes()
                    .iter()
                    .map(|of| (waits && !of.delay().is_zero()).then(|| certain(of.delay())));
                self.refund(checks, &charges, queued_for, mark, false);
            }
            return None;
        }
        let took = asking.ended(&charged);
        self.shared.latency.note(took, self.shared.deadline, &charged);
        Some(self.entered(checks, charged))
    }

    /// Refunds what was charged for checks since a mark, each of which is in line for so long or not.
    fn refund(
        &self,
        checks: &[Check<'_>],
        charges: &Charges,
        queued_for: impl Iterator<Item = Option<Duration>>,
        mark: u64,
        is_local: bool,
    ) {
        let all = checks.iter().zip(charges).zip(queued_for);
        let charged = all.filter_map(|((check, at), queued_for)| {
            let at = (*at)?;
            // What was charged before a reset is gone.
            let stands = self.shared.resets.since(mark, check);
            (!stands).then(|| Charged { check: check.clone(), at, queued_for })
        });
        let charged: SmallVec<[Charged<'_>; 1]> = charged.collect();
        if is_local {
            self.shared.fallback.refund(&charged);
        } else if !charged.is_empty() {
            self.shared.store.refund(&charged);
        }
    }

    fn entered(
        &self,
        checks: &[Check<'_>],
        charged: Result<(Answers, Charges), StoreError>,
    ) -> Result<(Decision, Charges), RateLimitError> {
        let (decision, charges) = self.conclude(checks, charged)?;
        Ok((into_result(decision)?, charges))
    }
}

/// How long a call with a delay is certain to be in line: delays are rounded up to milliseconds.
fn certain(delay: Duration) -> Duration {
    delay.saturating_sub(Duration::from_millis(1))
}

impl<'r> Place<'r> {
    fn new(
        limiter: &Limiter,
        checks: SmallVec<[Check<'r>; 1]>,
        decision: &Decision,
        charges: Charges,
        mark: u64,
        waits: bool,
    ) -> Self {
        let delay = |delay: Duration| if waits { delay } else { Duration::ZERO };
        Self {
            checks,
            charges,
            delays: decision.outcomes().iter().map(|outcome| delay(outcome.delay())).collect(),
            is_local: decision.degraded() == Some(Degraded::Local),
            delay: delay(decision.delay()),
            since_ns: limiter.shared.clock.now_ns(),
            mark,
            process: std::process::id(),
            limiter: limiter.clone(),
        }
    }

    /// Whether the call may run at once.
    pub(crate) fn is_due(&self) -> bool {
        self.delay.is_zero()
    }

    /// The call runs: nothing is refunded any more.
    pub(crate) fn take(mut self) {
        self.charges.clear();
    }

    /// Waits for the turn.
    pub(crate) async fn turn(self) {
        self.limiter.sleep(self.delay).await;
        self.take();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.charges.iter().all(Option::is_none) || self.process != std::process::id() {
            return;
        }
        let shared = &self.limiter.shared;
        let waited = shared.clock.now_ns().saturating_sub(self.since_ns);
        let waited = Duration::from_nanos(u64::try_from(waited).unwrap_or(0));
        if !self.is_due() && waited >= self.delay {
            // It has had its turn.
            return;
        }
        let queued_for = self.delays.iter().map(|delay| (waited < *delay).then(|| certain(*delay)));
        self.limiter.refund(&self.checks, &self.charges, queued_for, self.mark, self.is_local);
    }
}
