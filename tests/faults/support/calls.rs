//! Calls of a limiter on Redis, and what they are told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratelimit_kit::{
    Algorithm, Check, Decision, Degraded, Limiter, LimiterBuilder, OnError, RateLimitError, Rule,
    StoreError,
};
use test_support::unique;

use crate::support::wait::secs;

/// A limiter on this server, with keys of its own, that says so when the server does not decide. It
/// has more patience than it has by default: the machine is busy.
pub(crate) fn on(url: impl Into<String>) -> LimiterBuilder {
    by_default(url).deadline(secs(1))
}

/// The same with no more patience than by default: for those that measure it.
pub(crate) fn by_default(url: impl Into<String>) -> LimiterBuilder {
    Limiter::builder().redis(url).prefix(unique("redis")).on_error(OnError::Closed)
}

/// Waits until a limiter is connected: from there on calls are decided by its server.
pub(crate) fn connected(builder: LimiterBuilder) -> Limiter {
    let (limiter, start) = (builder.build().unwrap(), Instant::now());
    // On a busy machine a server next door may answer later than a call may take.
    while let Err(error) = block_on(limiter.ready()) {
        let is_late = error.to_string().contains("did not answer within");
        assert!(is_late && start.elapsed() < secs(20), "{error}");
        std::thread::sleep(Duration::from_millis(10));
    }
    limiter
}

/// A rule with a name that no other rule has, for windows that do not end during a test.
pub(crate) fn window(limit: u64) -> Rule {
    window_of(limit, secs(600))
}

/// The same with windows that do.
pub(crate) fn window_of(limit: u64, window: Duration) -> Rule {
    Rule::named(Arc::<str>::from(unique("rule")), Algorithm::FixedWindow { limit, window })
}

/// What a call of one rule was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// By the server: what is left.
    Admitted(u64),
    /// By the server: how long to wait.
    Refused(Duration),
    /// By nobody: the call runs.
    Open,
    /// By this process: whether the call runs.
    Local(bool),
    /// Nobody decided, and the call does not run.
    Failed(StoreError),
}

impl Told {
    /// Whether the server decided.
    pub(crate) fn by_server(&self) -> bool {
        matches!(self, Self::Admitted(_) | Self::Refused(_))
    }

    fn new(result: &Result<Decision, RateLimitError>) -> Self {
        let decision = match result {
            Ok(decision) => decision,
            Err(RateLimitError::Limited(refusal)) => refusal.decision(),
            Err(RateLimitError::Unavailable(unavailable)) => {
                return Self::Failed(unavailable.cause().clone());
            }
            Err(error) => panic!("a mistake: {error}"),
        };
        match decision.degraded() {
            Some(Degraded::Open) => Self::Open,
            Some(Degraded::Local) => Self::Local(decision.is_admitted()),
            None => match decision.outcomes() {
                [outcome] if outcome.is_admitted() => Self::Admitted(outcome.remaining()),
                [outcome] => Self::Refused(outcome.retry_after().unwrap()),
                other => panic!("{} outcomes for one check", other.len()),
            },
            Some(other) => panic!("{other:?}"),
        }
    }
}

/// One call, which blocks.
pub(crate) fn call(limiter: &Limiter, rule: &Rule, key: &str) -> Told {
    Told::new(&limiter.check_blocking(&Check::new(rule, key)))
}

/// One call, which is awaited.
pub(crate) async fn call_async(limiter: &Limiter, rule: &Rule, key: &str) -> Told {
    Told::new(&limiter.check(&Check::new(rule, key)).await)
}

/// How long something took, and what came of it.
pub(crate) fn timed<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = what();
    (start.elapsed(), result)
}

/// Waits for a future on this thread, in a runtime of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
