//! What a key takes in Redis, for each algorithm: `cargo bench --bench redis_memory`.
//!
//! Ten thousand keys of the form `user:123456`, each called a few times, on a server of its own; the
//! difference in `used_memory`, and what `MEMORY USAGE` says about one key.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

use std::time::Duration;

use ratelimit_kit::{Algorithm, Check, Limiter, OnError, Rate, Rule};
use test_support::{Flavor, Server};

const KEYS: u64 = 10_000;
const HOUR: Duration = Duration::from_hours(1);

fn main() {
    let algorithms = [
        ("token bucket", Algorithm::TokenBucket { capacity: 100, refill: Rate::per_hour(100) }, 3),
        ("leaky bucket", Algorithm::LeakyBucket { capacity: 100, leak: Rate::per_hour(100) }, 3),
        ("fixed window", Algorithm::FixedWindow { limit: 100, window: HOUR }, 3),
        ("sliding counter, 1 sub-window", counter(1), 3),
        ("sliding counter, 10 sub-windows", counter(10), 3),
        ("sliding counter, 60 sub-windows", counter(60), 3),
        ("sliding log, 1 call", Algorithm::SlidingLog { limit: 100, window: HOUR }, 1),
        ("sliding log, 10 calls", Algorithm::SlidingLog { limit: 100, window: HOUR }, 10),
        ("sliding log, 100 calls", Algorithm::SlidingLog { limit: 100, window: HOUR }, 100),
    ];
    println!("| algorithm | bytes per key |");
    println!("| --- | --- |");
    for (name, algorithm, calls) in algorithms {
        println!("| {name} | {} |", bytes_per_key(algorithm, calls));
    }
}

fn counter(sub_windows: u32) -> Algorithm {
    Algorithm::SlidingCounter { limit: 100, window: HOUR, sub_windows }
}

fn bytes_per_key(algorithm: Algorithm, calls: u32) -> u64 {
    let server = Server::start(Flavor::Installed);
    let limiter = Limiter::builder()
        .redis(server.url())
        .on_error(OnError::Closed)
        .deadline(Duration::from_secs(10))
        .build()
        .unwrap();
    let rule = Rule::named("api", algorithm);
    let call = |n: u64| {
        limiter.check_blocking(&Check::new(&rule, format!("user:{n:06}"))).unwrap();
    };
    // The script, the connection and their buffers are there before.
    call(KEYS);
    let used = || server.info("used_memory").parse::<u64>().unwrap();
    let before = used();
    for n in 0..KEYS {
        for _ in 0..calls {
            call(n);
        }
    }
    (used() - before) / KEYS
}
