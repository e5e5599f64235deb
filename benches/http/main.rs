//! A limited handler of axum beside the bare one and beside `tower_governor`, in one interleaved run.
//!
//! `cargo bench -p benches --bench http` prints the table of `docs/performance.md`. Server and clients
//! are one process on one machine, so the numbers say how the cases compare, and not what axum can do.

#![allow(clippy::print_stdout, reason = "prints its table")]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use ratelimit_kit::{RateLimitError, RateLimitLayer, rate_limit};
use test_support::Load;
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_secs(1);
const CONNECTIONS: usize = 16;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

async fn bare() -> &'static str {
    "hello"
}

/// So much that no request is refused.
#[rate_limit(key = "'everybody'", capacity = 1_000_000_000, refill = 1_000_000)]
async fn annotated() -> std::result::Result<&'static str, RateLimitError> {
    Ok("hello")
}

#[rate_limit(name = "hello", key = "@ip", capacity = 1_000_000_000, refill = 1_000_000)]
async fn by_address() -> std::result::Result<&'static str, RateLimitError> {
    Ok("hello")
}

fn cases() -> Result<Vec<(&'static str, Router)>> {
    let mut governor = GovernorConfigBuilder::default();
    governor.period(Duration::from_micros(1)).burst_size(1_000_000_000);
    let plain = governor.finish().ok_or("a configuration of governor's")?;
    let with_headers = governor.use_headers().finish().ok_or("a configuration of governor's")?;
    let (of_bare, of_ours) = (|| Router::new().route("/", get(bare)), by_address);
    let ours = |layer| Router::new().route("/", get(of_ours)).layer(layer);
    Ok(vec![
        ("bare handler", of_bare()),
        ("annotated, no layer", Router::new().route("/", get(annotated))),
        ("annotated by @ip, no fields", ours(RateLimitLayer::new().fields([]))),
        ("annotated by @ip, fields", ours(RateLimitLayer::new())),
        ("tower_governor by address", of_bare().layer(GovernorLayer::new(plain))),
        ("tower_governor, headers", of_bare().layer(GovernorLayer::new(with_headers))),
    ])
}

/// Serves on a thread of its own, for as long as the program runs.
fn serve(router: Router) -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
        })
    });
    Ok(address)
}

fn main() -> Result<()> {
    let mut measured = Vec::new();
    for (name, router) in cases()? {
        measured.push((name, serve(router)?, Vec::new()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for round in 0..=ROUNDS {
        for (_, address, rounds) in &mut measured {
            let load = Load::new(*address, "/").connections(CONNECTIONS).lasts(ROUND);
            let answers = runtime.block_on(load.run()).total(200);
            // The first round warms up.
            if round > 0 {
                rounds.push(answers);
            }
        }
    }
    let bare = measured.first().map_or(1, |(_, _, rounds)| median(rounds));
    println!("{CONNECTIONS} connections, median of {ROUNDS} rounds of {ROUND:?}\n");
    println!("| handler | requests/s | of bare |");
    println!("| --- | ---: | ---: |");
    for (name, _, rounds) in &measured {
        let median = median(rounds);
        let percent = median * 1_000 / bare.max(1);
        println!("| {name} | {median} | {}.{:03} |", percent / 1_000, percent % 1_000);
    }
    Ok(())
}

fn median(rounds: &[usize]) -> usize {
    let mut rounds = rounds.to_vec();
    rounds.sort_unstable();
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}
