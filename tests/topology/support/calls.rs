//! A caller that goes on while things happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratelimit_kit::{Check, Decision, Degraded, Limiter, RateLimitError, Rule, StoreError};

use test_stage::algorithms::ms;

/// What a call was told, and when.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) at: Instant,
    pub(crate) took: Duration,
    pub(crate) told: Told,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Admitted,
    Refused,
    Degraded(Degraded),
    Failed(StoreError),
}

impl Told {
    /// Whether a server has answered with an error of this code.
    pub(crate) fn failed_with(&self, code: &str) -> bool {
        matches!(self, Self::Failed(StoreError::Server { reason }) if reason.contains(code))
    }
}

impl Call {
    /// Makes one call.
    pub(crate) fn make(limiter: &Limiter, checks: &[Check<'_>]) -> Self {
        let at = Instant::now();
        let result = limiter.check_all_blocking(checks);
        Self { at, took: at.elapsed(), told: Told::from(result) }
    }
}

impl From<Result<Decision, RateLimitError>> for Told {
    fn from(result: Result<Decision, RateLimitError>) -> Self {
        match result {
            Ok(decision) => decision.degraded().map_or(Self::Admitted, Self::Degraded),
            Err(RateLimitError::Limited(refusal)) => {
                refusal.decision().degraded().map_or(Self::Refused, Self::Degraded)
            }
            Err(RateLimitError::Unavailable(unavailable)) => {
                Self::Failed(unavailable.cause().clone())
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Calls in a thread of its own until it is told to stop, a hundred per second at most.
pub(crate) struct Caller {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Call>>,
}

impl Caller {
    /// Rules with their keys, and the group of all of them.
    pub(crate) fn start(
        limiter: &Limiter,
        rules: Vec<(Rule, String)>,
        group: Option<String>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (limiter, stop) = (limiter.clone(), Arc::clone(&stop));
            thread::spawn(move || {
                let checks: Vec<Check<'_>> = rules
                    .iter()
                    .map(|(rule, key)| {
                        let check = Check::new(rule, key);
                        match &group {
                            Some(group) => check.with_group(group),
                            None => check,
                        }
                    })
                    .collect();
                let mut calls = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    calls.push(Call::make(&limiter, &checks));
                    thread::sleep(ms(10));
                }
                calls
            })
        };
        Self { stop, thread }
    }

    /// What its calls were told.
    pub(crate) fn stop(self) -> Calls {
        self.stop.store(true, Ordering::Relaxed);
        Calls(self.thread.join().unwrap())
    }
}

/// The calls of a caller.
#[derive(Debug)]
pub(crate) struct Calls(pub(crate) Vec<Call>);

impl Calls {
    pub(crate) fn admitted(&self) -> u64 {
        let admitted = self.0.iter().filter(|call| call.told == Told::Admitted);
        u64::try_from(admitted.count()).unwrap()
    }

    /// The longest that one took.
    pub(crate) fn slowest(&self) -> Duration {
        self.0.iter().map(|call| call.took).max().unwrap()
    }

    /// Those that were not admitted by a server.
    pub(crate) fn failures(&self) -> Vec<&Call> {
        self.0.iter().filter(|call| call.told != Told::Admitted).collect()
    }
}
