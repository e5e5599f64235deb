//! The limiter of the process, in a process of its own.

#![allow(clippy::expect_used, clippy::panic, reason = "tests: a panic is a failed test")]

use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use ratelimit_runtime::Limiter;
use tracing::span;

/// Holds the log to a limit of the process' own limiter, as whatever throttles a log does.
struct Throttled(Sender<bool>);

impl tracing::Subscriber for Throttled {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.send(Limiter::installed().is_ok()).ok();
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[test]
fn the_first_use_may_be_logged_by_what_is_limited_itself() {
    let (tell, told) = mpsc::channel();
    thread::spawn(|| {
        tracing::subscriber::with_default(Throttled(tell), || Limiter::installed().is_ok())
    });
    assert_eq!(told.recv_timeout(Duration::from_secs(10)), Ok(true));
}
