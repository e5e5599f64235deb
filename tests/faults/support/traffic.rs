//! Calls that come in whether earlier ones are done or not, as they do from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratelimit_kit::{Limiter, Rule};
use tokio::runtime::Builder;
use tokio::time::interval;

use crate::support::calls::{Told, call_async};

/// One call of a [`Traffic`].
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// When it was made.
    pub(crate) at: Instant,
    pub(crate) took: Duration,
    pub(crate) told: Told,
}

/// Calls of one key at an even rate, until this is stopped.
#[derive(Debug)]
pub(crate) struct Traffic {
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Traffic {
    pub(crate) fn every(pause: Duration, limiter: &Limiter, rule: Rule) -> Self {
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let stop = Arc::new(AtomicBool::new(false));
        let calls = {
            let (limiter, seen, stop) = (limiter.clone(), Arc::clone(&seen), Arc::clone(&stop));
            let rule = Arc::new(rule);
            async move {
                let mut pauses = interval(pause);
                let mut tasks = tokio::task::JoinSet::new();
                while !stop.load(Ordering::Relaxed) {
                    pauses.tick().await;
                    let (limiter, seen) = (limiter.clone(), Arc::clone(&seen));
                    let rule = Arc::clone(&rule);
                    tasks.spawn(async move {
                        let at = Instant::now();
                        let told = call_async(&limiter, &rule, "key").await;
                        seen.lock().unwrap().push(Seen { at, took: at.elapsed(), told });
                    });
                    // One that has panicked fails the test.
                    while let Some(done) = tasks.try_join_next() {
                        done.unwrap();
                    }
                }
                while let Some(done) = tasks.join_next().await {
                    done.unwrap();
                }
            }
        };
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let thread = thread::spawn(move || runtime.block_on(calls));
        Self { seen, stop, thread }
    }

    /// Whether a call that was made after this instant was told such a thing.
    pub(crate) fn was_told(&self, since: Instant, such: impl Fn(&Told) -> bool) -> bool {
        self.seen.lock().unwrap().iter().any(|call| call.at >= since && such(&call.told))
    }

    /// Ends it; all its calls.
    pub(crate) fn stop(self) -> Vec<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        Arc::into_inner(self.seen).unwrap().into_inner().unwrap()
    }
}

/// The most of these instants that lie within one span.
pub(crate) fn most_within(span: Duration, instants: &[Instant]) -> usize {
    let within =
        |from: Instant| instants.iter().filter(move |at| (from..from + span).contains(*at)).count();
    // There are most of them just when one begins the span.
    instants.iter().map(|from| within(*from)).max().unwrap_or(0)
}

/// The time within which this part of the calls was done, in hundredths.
pub(crate) fn percentile(hundredth: usize, calls: &[Seen]) -> Duration {
    let mut took: Vec<Duration> = calls.iter().map(|call| call.took).collect();
    took.sort_unstable();
    took[(took.len() * hundredth).div_ceil(100) - 1]
}
