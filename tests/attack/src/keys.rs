//! One address invents keys for one rule, as many as the embedded store holds, and others log in by
//! another rule.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use ratelimit_kit::{Limiter, RateLimitError, rate_limit};
use tokio::time::Instant;

use crate::client::{Connection, Request};
use crate::service::{layer, serve};
use crate::{Honest, Report};

#[rate_limit(
    name = "search",
    key = "@header['x-device'] ?: @ip",
    algo = fixed_window,
    limit = 1_000,
    window = "24h",
    limiter = limiter
)]
async fn search(State(limiter): State<Limiter>) -> Result<&'static str, RateLimitError> {
    Ok("found")
}

#[rate_limit(
    name = "login",
    key = "@ip",
    algo = fixed_window,
    limit = 5,
    window = "24h",
    limiter = limiter
)]
async fn login(State(limiter): State<Limiter>) -> Result<&'static str, RateLimitError> {
    Ok("welcome")
}

/// What the embedded store holds if nothing else is said, and so many keys are invented in a minute.
const MAX_KEYS: usize = 100_000;

/// Those who log in afterwards, each from another address.
const LOGINS: usize = 200;

pub(crate) async fn run(lasts: Duration) -> Report {
    // In a shorter time, a smaller store.
    let seconds = usize::try_from(lasts.as_secs()).unwrap().clamp(1, 60);
    let keys = MAX_KEYS * seconds / 60;
    let limiter = Limiter::builder().max_keys(keys).build().unwrap();
    let router = Router::new().route("/search", get(search)).route("/login", get(login));
    let address = serve(router.with_state(limiter.clone()).layer(layer(&limiter))).await;
    let mut honest = Honest::default();
    let began = Instant::now();
    let mut attacker = Connection::to(address).await;
    let mut invented = 0;
    while invented < keys || began.elapsed() < lasts {
        let device = format!("device-{invented}");
        let request = Request::get("/search", "203.0.113.66").header("x-device", &device);
        attacker.ask(&request).await;
        invented += 1;
        if invented % (keys / 20) == 0 {
            honest.count(log_in(invented, address).await);
        }
    }
    for number in 0..LOGINS {
        honest.count(log_in(invented + 1 + number, address).await);
    }
    let attack = format!(
        "{invented} invented keys of one rule, in a store for {keys} keys; then {LOGINS} logins of \
         other addresses"
    );
    Report { attack, honest }
}

/// A login from an address of its own: what it lost.
async fn log_in(number: usize, address: std::net::SocketAddr) -> Option<String> {
    let ip = format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
    let answer = Request::get("/login", ip).to(address).await;
    (answer.status != 200).then(|| format!("login {number}: {}", answer.status))
}
