//! What a decision takes at some distance from Redis, and whether it is the server's: each algorithm
//! at round trips of 1, 5, 20 and 40 ms, one call at a time and 256 at once.
//!
//! Prints the table of `docs/reliability.md`, and fails when one of its promises is broken.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: a panic is a failed test"
)]

mod wire;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lexopt::prelude::*;
use ratelimit_runtime::{Algorithm, Check, Limiter, OnError, Rate, RateLimitError, Rule};
use test_support::{Flavor, Server, unique};
use tokio::task::JoinSet;

use self::wire::Wire;

/// A median may be so much above the round trip and what the server itself takes for as many calls as there are at
/// once: it decides them one after the other.
const ABOVE: Duration = Duration::from_millis(2);

/// Round trips in milliseconds, with the deadline if it is not the default.
const ROUND_TRIPS: [(u64, Option<u64>); 4] = [(1, None), (5, None), (20, None), (40, Some(150))];

/// Calls at once, and how often each task calls.
const LOADS: [(usize, usize); 2] = [(1, 200), (256, 16)];

const DAY: Duration = Duration::from_hours(24);

/// Each with such a limit a day.
fn algorithms(limit: u64) -> [(&'static str, Algorithm); 5] {
    let slow = Rate::per_day(1);
    [
        ("token bucket", Algorithm::TokenBucket { capacity: limit, refill: slow }),
        ("leaky bucket", Algorithm::LeakyBucket { capacity: limit, leak: slow }),
        ("fixed window", Algorithm::FixedWindow { limit, window: DAY }),
        ("sliding log", Algorithm::SlidingLog { limit, window: DAY }),
        ("sliding counter", Algorithm::SlidingCounter { limit, window: DAY, sub_windows: 10 }),
    ]
}

/// What calls of one rule on one key came to.
#[derive(Default)]
struct Seen {
    took: Vec<Duration>,
    admitted: u64,
    without_server: u64,
}

fn main() -> ExitCode {
    let mut parser = lexopt::Parser::from_env();
    let mut times = 1;
    loop {
        match parser.next() {
            Ok(None) => break,
            Ok(Some(Long("times"))) => match parser.value().and_then(|value| value.parse()) {
                Ok(more) => times = more,
                Err(error) => return usage(&error),
            },
            Ok(Some(other)) => return usage(&other.unexpected()),
            Err(error) => return usage(&error),
        }
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let failures = runtime.block_on(run(times));
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage(error: &lexopt::Error) -> ExitCode {
    eprintln!("roundtrips: {error} (roundtrips [--times N])");
    ExitCode::FAILURE
}

/// Prints the table; what is not as promised.
async fn run(times: usize) -> Vec<String> {
    let server = Server::start(Flavor::Installed);
    let names: Vec<&str> = algorithms(1).iter().map(|(name, _)| *name).collect();
    println!(
        "\n| round trip, ms | calls at once | calls | {} | slowest of 100 | without the server | permits \
         above the limits | processor time of the server for all at once, ms |\n| --: | --: | --: |{} --: | --: | \
         --: | --: |",
        names.join(" | "),
        " --: |".repeat(names.len())
    );
    let mut failures = Vec::new();
    for (round_trip, deadline) in ROUND_TRIPS {
        for (tasks, calls) in LOADS {
            let calls = calls * times;
            let wire = Wire::to(server.port(), Duration::from_millis(round_trip) / 2);
            let limiter = Limiter::builder().redis(wire.url()).prefix(unique("roundtrips"));
            let limiter = limiter.on_error(OnError::Open);
            let limiter = match deadline {
                Some(deadline) => limiter.deadline(Duration::from_millis(deadline)),
                None => limiter,
            };
            let limiter = limiter.build().unwrap();
            limiter.ready().await.unwrap();
            let place = format!("{round_trip} ms, {tasks} at once");
            let mut medians = Vec::new();
            let (mut all, mut without_server, mut above) = (Vec::new(), 0, 0);
            let mut busy = Vec::new();
            // Half of them are admitted.
            let limit = (tasks * calls / 2) as u64;
            for (name, algorithm) in algorithms(limit) {
                let before = processor_time(&server);
                let mut seen = measure(&limiter, algorithm, tasks, calls).await;
                let of_all = processor_time(&server).saturating_sub(before);
                let at_once = of_all / u32::try_from(calls).unwrap();
                busy.push(at_once);
                seen.took.sort_unstable();
                let median = seen.took[seen.took.len() / 2];
                medians.push(millis(median));
                if median > Duration::from_millis(round_trip) + at_once + ABOVE {
                    failures.push(format!(
                        "{place}, {name}: the median is {median:?}, of which the server takes {at_once:?}"
                    ));
                }
                if seen.without_server > 0 {
                    let without = seen.without_server;
                    failures.push(format!("{place}, {name}: {without} without the server"));
                }
                // Fewer would be as wrong: nothing else calls.
                if seen.without_server == 0 && seen.admitted != limit {
                    failures.push(format!("{place}, {name}: {} of {limit}", seen.admitted));
                }
                above += seen.admitted.saturating_sub(limit);
                without_server += seen.without_server;
                all.append(&mut seen.took);
            }
            all.sort_unstable();
            busy.sort_unstable();
            println!(
                "| {round_trip} | {tasks} | {} | {} | {} | {without_server} | {above} | {} to {} |",
                all.len(),
                medians.join(" | "),
                millis(all[all.len() * 99 / 100]),
                millis(busy[0]),
                millis(busy[busy.len() - 1]),
            );
        }
    }
    failures
}

/// So many tasks call one key, each so often, one call after the other.
async fn measure(limiter: &Limiter, algorithm: Algorithm, tasks: usize, calls: usize) -> Seen {
    let rule = Arc::new(Rule::named(unique("rule"), algorithm));
    let mut set = JoinSet::new();
    for _ in 0..tasks {
        let (limiter, rule) = (limiter.clone(), rule.clone());
        set.spawn(async move {
            let mut seen = Seen::default();
            for _ in 0..calls {
                let began = Instant::now();
                let answer = limiter.check(&Check::new(&rule, "key")).await;
                seen.took.push(began.elapsed());
                match answer {
                    Ok(decision) if decision.degraded().is_none() => seen.admitted += 1,
                    Ok(_) => seen.without_server += 1,
                    Err(RateLimitError::Limited(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            seen
        });
    }
    let mut all = Seen::default();
    for mut seen in set.join_all().await {
        all.took.append(&mut seen.took);
        all.admitted += seen.admitted;
        all.without_server += seen.without_server;
    }
    all
}

/// The processor time of the server so far.
fn processor_time(server: &Server) -> Duration {
    let info: String = server.command(&["INFO", "cpu"]);
    let seconds = |field| {
        let value = info.lines().find_map(|line| line.strip_prefix(field)).expect(field);
        value.trim().parse::<f64>().unwrap()
    };
    Duration::from_secs_f64(seconds("used_cpu_sys:") + seconds("used_cpu_user:"))
}

fn millis(took: Duration) -> String {
    format!("{:.2}", took.as_secs_f64() * 1_000.0)
}
