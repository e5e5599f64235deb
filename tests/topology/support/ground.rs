//! A limiter on a cluster, with keys where a test wants them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{
    Algorithm, Check, Decision, Limiter, LimiterBuilder, Outcome, RateLimitError, Rule,
};
use test_support::{Cluster, unique};

use test_stage::algorithms::{ms, secs};
use test_stage::stage::{block_on, on, only};

/// A limiter and its cluster.
pub(crate) struct Ground<'c> {
    pub(crate) cluster: &'c Cluster,
    pub(crate) limiter: Limiter,
    pub(crate) prefix: String,
}

impl<'c> Ground<'c> {
    /// With the patience of a busy machine, and without another store.
    pub(crate) fn on(cluster: &'c Cluster) -> Self {
        Self::with(cluster, |builder| builder)
    }

    /// With other settings.
    pub(crate) fn with(
        cluster: &'c Cluster,
        settings: impl FnOnce(LimiterBuilder) -> LimiterBuilder,
    ) -> Self {
        let prefix = unique("topology");
        let limiter = settings(on(cluster.url()).prefix(&prefix)).build().unwrap();
        block_on(limiter.ready()).unwrap();
        Self { cluster, limiter, prefix }
    }

    /// A key whose state under a rule is in this node's slots.
    pub(crate) fn key_on(&self, rule: &Rule, node: usize) -> String {
        let fits = |key: &String| self.cluster.owner(self.slot(rule, key)) == node;
        (0..1_000).map(|number| format!("key-{number}")).find(fits).unwrap()
    }

    /// The slot of a key under a rule.
    pub(crate) fn slot(&self, rule: &Rule, key: &str) -> u16 {
        let tag = match rule.algorithm().unwrap() {
            Algorithm::TokenBucket { .. } => "tb1",
            Algorithm::LeakyBucket { .. } => "lb1",
            Algorithm::FixedWindow { .. } => "fw1",
            Algorithm::SlidingLog { .. } => "sl1",
            Algorithm::SlidingCounter { .. } => "sc1",
            other => panic!("{other:?} is new"),
        };
        self.cluster.slot(&format!("{}:{}:{tag}:{key}", self.prefix, rule.name()))
    }

    /// What a list of checks is told, admitted or refused; anything else fails the test.
    pub(crate) fn told(&self, checks: &[Check<'_>]) -> (bool, Vec<Outcome>) {
        told_all(self.limiter.check_all_blocking(checks))
    }

    /// What is left of a check's key.
    pub(crate) fn peek(&self, check: &Check<'_>) -> Outcome {
        only(block_on(self.limiter.peek(check)).unwrap().outcomes()).clone()
    }
}

/// Whether a list of checks was admitted, and what each was told.
pub(crate) fn told_all(result: Result<Decision, RateLimitError>) -> (bool, Vec<Outcome>) {
    let decision = match result {
        Ok(decision) => decision,
        Err(RateLimitError::Limited(refusal)) => refusal.decision().clone(),
        Err(error) => panic!("no decision: {error}"),
    };
    assert_eq!(decision.degraded(), None);
    (decision.is_admitted(), decision.outcomes().to_vec())
}

/// Waits until something is so.
pub(crate) fn until(within: Duration, what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < within, "after {within:?} it is still not so: {what}");
        thread::sleep(ms(10));
    }
}

/// How long servers may take to agree on something.
pub(crate) const LONG: Duration = secs(20);

/// Until this is dropped, no other test has servers of its own that it breaks.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
