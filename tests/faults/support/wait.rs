//! Waiting for what comes about by itself.

use std::thread;
use std::time::{Duration, Instant};

/// Waits until something is so, and fails when it is not in time; how long it took.
#[track_caller]
pub(crate) fn until(patience: Duration, what: &str, mut so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < patience, "not within {patience:?}: {what}");
        thread::sleep(ms(5));
    }
    start.elapsed()
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}
