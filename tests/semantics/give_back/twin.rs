//! The same key as the embedded store would have it, on the clock of Redis.

use ratelimit_runtime::__private::algo::{
    self, Answer, Arithmetic, Charge, CounterState, FixedWindow, LeakyBucket, LeakyState, LogState,
    Plan, Refund, SlidingCounter, SlidingLog, Timestamp, TokenBucket, TokenState, WindowState,
};

/// A key: its algorithm, and what it holds.
pub(super) enum Twin {
    TokenBucket(TokenBucket, Option<TokenState>),
    LeakyBucket(LeakyBucket, Option<LeakyState>),
    FixedWindow(FixedWindow, Option<WindowState>),
    SlidingLog(SlidingLog, Option<LogState>),
    SlidingCounter(SlidingCounter, Option<CounterState>),
}

/// Runs an expression on the algorithm of a twin and its state.
macro_rules! with {
    ($twin:expr, $algorithm:ident, $state:ident => $run:expr) => {
        match $twin {
            Twin::TokenBucket($algorithm, $state) => $run,
            Twin::LeakyBucket($algorithm, $state) => $run,
            Twin::FixedWindow($algorithm, $state) => $run,
            Twin::SlidingLog($algorithm, $state) => $run,
            Twin::SlidingCounter($algorithm, $state) => $run,
        }
    };
}

impl Twin {
    pub(super) fn new(plan: Plan) -> Self {
        match plan {
            Plan::TokenBucket(bucket) => Self::TokenBucket(bucket, None),
            Plan::LeakyBucket(bucket) => Self::LeakyBucket(bucket, None),
            Plan::FixedWindow(window) => Self::FixedWindow(window, None),
            Plan::SlidingLog(log) => Self::SlidingLog(log, None),
            Plan::SlidingCounter(counter) => Self::SlidingCounter(counter, None),
            other => panic!("what is {other:?}?"),
        }
    }

    /// Charges a call: when, if it was admitted.
    pub(super) fn charge(&mut self, now: Timestamp, cost: u64) -> Option<Timestamp> {
        fn charge<A: Arithmetic>(
            algorithm: &A,
            state: &mut Option<A::State>,
            now: Timestamp,
            cost: u64,
        ) -> Option<Timestamp> {
            let admitted = algo::hit(algorithm, state, now, cost).admitted;
            state.as_ref().filter(|_| admitted).map(A::charged_at)
        }
        with!(self, algorithm, state => charge(algorithm, state, now, cost))
    }

    /// Refunds a charge: whether it was.
    pub(super) fn refund(
        &mut self,
        now: Timestamp,
        at: Timestamp,
        cost: u64,
        queued_until: Option<Timestamp>,
    ) -> bool {
        fn refund<A: Arithmetic>(
            algorithm: &A,
            state: &mut Option<A::State>,
            now: Timestamp,
            charge: Charge,
        ) -> bool {
            let Some(holds) = state else { return false };
            let refund = algorithm.refund(holds, now, charge);
            if refund == Refund::Unused {
                *state = None;
            }
            refund != Refund::Stands
        }
        let charge = Charge { at, cost, queued_until };
        with!(self, algorithm, state => refund(algorithm, state, now, charge))
    }

    /// What a look is told.
    pub(super) fn peek(&mut self, now: Timestamp) -> Answer {
        with!(self, algorithm, state => algo::hit(algorithm, state, now, 0))
    }
}
