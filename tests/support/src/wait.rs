//! Waiting for what comes about by itself.

use std::thread;
use std::time::{Duration, Instant};

/// How long servers may take to start, to end and to agree.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until something is so; whether it came to be.
pub(crate) fn until(mut so: impl FnMut() -> bool) -> bool {
    until_ok(|| so().then_some(()).ok_or(())).is_ok()
}

/// Waits until something works; why it did not in the end.
pub(crate) fn until_ok<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            result => return result,
        }
    }
}
