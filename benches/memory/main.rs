//! Bytes per key of the embedded store beside `governor`.
//!
//! `cargo bench -p benches --bench memory` prints the table of `docs/performance.md`.

#![allow(clippy::print_stdout, reason = "prints its table")]

use std::num::NonZeroU32;
use std::time::Duration;

use governor::{Quota, RateLimiter};
use peak_alloc::PeakAlloc;
use ratelimit_kit::store::{Embedded, Store};
use ratelimit_kit::{Algorithm, Check, Rate, Rule};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const WINDOW: Duration = Duration::from_hours(1);

fn main() {
    let algorithms = [
        Algorithm::TokenBucket { capacity: 100, refill: Rate::per_hour(100) },
        Algorithm::LeakyBucket { capacity: 100, leak: Rate::per_hour(100) },
        Algorithm::FixedWindow { limit: 100, window: WINDOW },
        Algorithm::SlidingCounter { limit: 100, window: WINDOW, sub_windows: 1 },
        Algorithm::SlidingCounter { limit: 100, window: WINDOW, sub_windows: 10 },
        Algorithm::SlidingLog { limit: 100, window: WINDOW },
    ];
    println!(
        "| bytes per key, one call each | 100,000 keys | 1,000,000 keys |\n| --- | --: | --: |"
    );
    println!("| governor, keyed by `String` | {} | {} |", governor(100_000), governor(1_000_000));
    for algorithm in algorithms {
        let [small, large] = [100_000, 1_000_000].map(|keys| ours(algorithm, keys));
        println!("| {} | {small} | {large} |", name(algorithm));
    }
}

fn governor(keys: usize) -> usize {
    let before = ALLOCATED.current_usage();
    let quota = Quota::per_hour(NonZeroU32::new(100).unwrap_or(NonZeroU32::MIN));
    let limiter = RateLimiter::<String, _, _>::dashmap(quota);
    for i in 0..keys {
        let _ = limiter.check_key(&key(i));
    }
    let bytes = ALLOCATED.current_usage() - before;
    drop(limiter);
    bytes / keys
}

fn ours(algorithm: Algorithm, keys: usize) -> usize {
    let rule = Rule::named("memory", algorithm);
    let before = ALLOCATED.current_usage();
    let store = Embedded::new().with_max_keys(keys);
    for i in 0..keys {
        let _ = store.decide_now(&[Check::new(&rule, key(i))]);
    }
    assert_eq!(store.len(), keys, "every key has a place of its own");
    (ALLOCATED.current_usage() - before) / keys
}

fn key(i: usize) -> String {
    format!("user-{:012}", i * 7_919)
}

fn name(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::TokenBucket { .. } => "token bucket".to_owned(),
        Algorithm::LeakyBucket { .. } => "leaky bucket".to_owned(),
        Algorithm::FixedWindow { .. } => "fixed window".to_owned(),
        Algorithm::SlidingLog { .. } => "sliding log, one entry".to_owned(),
        Algorithm::SlidingCounter { sub_windows, .. } => {
            format!("sliding counter, {sub_windows} sub-window(s)")
        }
        _ => "another".to_owned(),
    }
}
