//! A recorder of metrics that panics, in a process of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests: a panic is a failed test")]

use std::sync::Arc;
use std::thread;

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};
use ratelimit_runtime::{Limiter, StoreError};

/// Panics whenever the limiter's own thread tells it something.
struct Panics;

fn panics() {
    assert_ne!(thread::current().name(), Some("ratelimit"), "a recorder that panics");
}

impl CounterFn for Panics {
    fn increment(&self, _: u64) {
        panics();
    }
    fn absolute(&self, _: u64) {}
}

impl GaugeFn for Panics {
    fn increment(&self, _: f64) {
        panics();
    }
    fn decrement(&self, _: f64) {
        panics();
    }
    fn set(&self, _: f64) {}
}

impl Recorder for Panics {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::new(Self))
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(Arc::new(Self))
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn connecting_goes_on() {
    metrics::set_global_recorder(Panics).unwrap();
    // Nobody listens there.
    let limiter = Limiter::builder().redis("redis://127.0.0.1:1").build().unwrap();
    for _ in 0..2 {
        let Err(StoreError::Connection { reason }) = limiter.ready_blocking() else {
            panic!("somebody listens there");
        };
        assert!(reason.contains("refused"), "{reason}");
    }
}
