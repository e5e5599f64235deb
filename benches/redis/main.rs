//! A decision on Redis beside a raw `EVALSHA` of the same script over the same connection, what the
//! server spends on each script, and what a key takes there.
//!
//! `cargo bench -p benches --bench redis` prints the tables of `docs/performance.md`.

#![allow(clippy::print_stdout, reason = "prints its tables")]

mod client;
mod server;

use std::time::Duration;

use ratelimit_kit::{Algorithm, Rate};
use test_support::{Flavor, Server};

const WINDOW: Duration = Duration::from_mins(1);

/// Each algorithm with a limit of 100 a minute.
const ALGORITHMS: [(&str, Algorithm); 7] = [
    ("token bucket", Algorithm::TokenBucket { capacity: 100, refill: Rate::per_minute(100) }),
    ("leaky bucket", Algorithm::LeakyBucket { capacity: 100, leak: Rate::per_minute(100) }),
    ("fixed window", Algorithm::FixedWindow { limit: 100, window: WINDOW }),
    (
        "sliding counter, 1 sub-window",
        Algorithm::SlidingCounter { limit: 100, window: WINDOW, sub_windows: 1 },
    ),
    (
        "sliding counter, 10 sub-windows",
        Algorithm::SlidingCounter { limit: 100, window: WINDOW, sub_windows: 10 },
    ),
    (
        "sliding counter, 60 sub-windows",
        Algorithm::SlidingCounter { limit: 100, window: WINDOW, sub_windows: 60 },
    ),
    ("sliding log", Algorithm::SlidingLog { limit: 100, window: WINDOW }),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start(Flavor::Installed);
    println!("Redis {}", server.info("redis_version"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        client::compare(&server).await?;
        server::cost(&server).await?;
        server::memory(&server).await
    })
}
