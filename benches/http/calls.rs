//! Without sockets: what a request takes from the router's door to its response.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use futures_util::FutureExt;
use tower_service::Service;

use super::{as_f64, cases};

const ROUNDS: usize = 60;
const CALLS: usize = 10_000;

/// What a client of another service sends, more or less.
const HEADERS: [(&str, &str); 6] = [
    ("host", "api.example.com"),
    ("user-agent", "client/1.0"),
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("content-type", "application/json"),
    ("x-request-id", "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"),
];

/// Prints the best of many rounds: what else runs on the machine makes calls slower, and never faster.
pub(super) fn print() -> Result<(), Box<dyn Error>> {
    let mut cases = cases::all()?;
    let mut best = vec![f64::INFINITY; cases.len()];
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 4711));
    for _ in 0..ROUNDS {
        for ((_, router), best) in cases.iter_mut().zip(&mut best) {
            let start = Instant::now();
            for _ in 0..CALLS {
                let request = Request::builder().uri("/").extension(ConnectInfo(peer));
                let request = HEADERS
                    .iter()
                    .fold(request, |request, (name, value)| request.header(*name, *value));
                let response = router.call(request.body(Body::empty())?).now_or_never();
                let status = response.ok_or("a response that takes time")??.status();
                if !status.is_success() {
                    return Err(format!("{status}").into());
                }
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / as_f64(CALLS));
        }
    }
    println!(
        "Without sockets, {} headers, best of {ROUNDS} rounds of {CALLS} calls\n",
        HEADERS.len()
    );
    println!("| handler | ns/request | more than bare |");
    println!("| --- | ---: | ---: |");
    let bare = best.first().copied().unwrap_or_default();
    for ((name, _), ns) in cases.iter().zip(&best) {
        println!("| {name} | {ns:.0} | {:.0} |", ns - bare);
    }
    Ok(())
}
