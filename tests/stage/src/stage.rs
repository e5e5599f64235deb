//! A limiter whose clock the test moves, on either store.

use std::time::Duration;

use ratelimit_kit::{
    Check, Clock, Decision, InvalidCall, Limiter, LimiterBuilder, ManualClock, OnError, Outcome,
    RateLimitError, Rule,
};
use test_support::{Flavor, Server, unique};

use crate::algorithms::{ms, secs};

/// When the clocks of stages begin: midnight, so a multiple of every window that tests use.
pub const ORIGIN: Duration = secs(20_700 * 86_400);

/// A limiter that answers with its store or not at all, and its clock.
#[derive(Debug)]
pub struct Stage {
    /// Which store it is.
    pub name: &'static str,
    /// What is called.
    pub limiter: Limiter,
    /// Its clock.
    pub clock: ManualClock,
}

impl Stage {
    /// In this process.
    pub fn embedded() -> Self {
        Self::new("embedded", Limiter::builder())
    }

    /// On Redis, which is given the time by the caller.
    pub fn redis() -> Self {
        Self::new("Redis", on_redis())
    }

    /// Both stores, one after the other: what a test demands of one it demands of the other.
    pub fn both() -> impl Iterator<Item = Self> {
        [Self::embedded, Self::redis].into_iter().map(|stage| stage())
    }

    fn new(name: &'static str, builder: LimiterBuilder) -> Self {
        let clock = ManualClock::new();
        clock.set(ORIGIN);
        let limiter = builder.clock(Clock::Manual(clock.clone())).build().unwrap();
        Self { name, limiter, clock }
    }

    /// Sets the clock to so many milliseconds after its beginning.
    pub fn at(&self, t: u64) {
        self.clock.set(ORIGIN + ms(t));
    }

    /// One call of cost 1.
    pub fn hit(&self, rule: &Rule) -> Outcome {
        self.check(&Check::new(rule, "key"))
    }

    /// One call.
    pub fn cost(&self, rule: &Rule, cost: u64) -> Outcome {
        self.check(&Check::new(rule, "key").with_cost(cost))
    }

    /// So many calls of cost 1; how many were admitted.
    pub fn hits(&self, rule: &Rule, calls: u64) -> u64 {
        (0..calls).map(|_| u64::from(self.hit(rule).is_admitted())).sum()
    }

    /// What is left.
    pub fn peek(&self, rule: &Rule) -> Outcome {
        let decision = block_on(self.limiter.peek(&Check::new(rule, "key")));
        only(decision.unwrap().outcomes()).clone()
    }

    /// What a check is told.
    pub fn check(&self, check: &Check<'_>) -> Outcome {
        told(self.limiter.check_blocking(check))
    }

    /// The mistake that a check is.
    pub fn mistake(&self, check: &Check<'_>) -> InvalidCall {
        match self.limiter.check_blocking(check) {
            Err(RateLimitError::Invalid(mistake)) => mistake,
            other => panic!("on {}, no mistake: {other:?}", self.name),
        }
    }
}

/// A limiter on the Redis that the tests of this binary share, with keys of its own. It never lets
/// another store answer, and it has the patience that a busy machine needs.
pub fn on_redis() -> LimiterBuilder {
    on_server(Server::shared(Flavor::Installed))
}

/// The same on another server.
pub fn on_server(server: &Server) -> LimiterBuilder {
    on(server.url())
}

/// The same on whatever is there.
pub fn on(url: String) -> LimiterBuilder {
    Limiter::builder().redis(url).prefix(unique("it")).on_error(OnError::Closed).deadline(secs(10))
}

/// The outcome of a single check, admitted or refused; anything else fails the test.
pub fn told(result: Result<Decision, RateLimitError>) -> Outcome {
    let decision = match result {
        Ok(decision) => {
            assert!(decision.is_admitted(), "a refusal came as Ok: {decision:?}");
            decision
        }
        Err(RateLimitError::Limited(refusal)) => {
            assert!(!refusal.decision().is_admitted(), "an admission came as Err: {refusal:?}");
            refusal.decision().clone()
        }
        Err(error) => panic!("no decision: {error}"),
    };
    assert_eq!(decision.degraded(), None);
    let outcome = only(decision.outcomes()).clone();
    if outcome.is_admitted() {
        assert_eq!(outcome.retry_after(), Some(Duration::ZERO));
    } else {
        assert_ne!(
            outcome.retry_after(),
            Some(Duration::ZERO),
            "refused, and told to come at once"
        );
    }
    outcome
}

/// The outcome of the one check that there was.
pub fn only(outcomes: &[Outcome]) -> &Outcome {
    match outcomes {
        [outcome] => outcome,
        other => panic!("{} outcomes for one check", other.len()),
    }
}

/// Waits for a future on this thread, without a runtime.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{self, Thread};

    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}
