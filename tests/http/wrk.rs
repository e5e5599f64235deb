//! wrk, which asks as fast as it can: what it counts is what the service counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use ratelimit_kit::{Limiter, RateLimitError, RateLimitLayer, rate_limit};
use test_support::Wrk;

use crate::support::site;

const LIMIT: u64 = 1_000;

/// What was let in, counted where it is.
#[derive(Clone)]
struct Counted {
    limiter: Limiter,
    bodies: Arc<AtomicU64>,
}

#[rate_limit(
    name = "counted",
    key = "@ip",
    algo = fixed_window,
    limit = LIMIT,
    window = "1h",
    limiter = counted.limiter,
)]
async fn counted(State(counted): State<Counted>) -> Result<String, RateLimitError> {
    Ok(counted.bodies.fetch_add(1, Ordering::Relaxed).to_string())
}

/// In real time, as in service: the window outlives the run by far.
#[test]
fn ten_seconds_of_wrk_get_the_limit_and_not_one_more() {
    let bodies = Arc::new(AtomicU64::new(0));
    let state = Counted { limiter: Limiter::builder().build().unwrap(), bodies: bodies.clone() };
    let router = Router::new()
        .route("/counted", get(counted))
        .with_state(state)
        .layer(RateLimitLayer::new());
    let address = site::serve_router(router);
    let wrk = Wrk::run(address, "/counted", 100, 10);
    assert_eq!(wrk.socket_errors(), 0, "{wrk:?}");
    assert_eq!(wrk.requests() - wrk.refused(), LIMIT, "{wrk:?}");
    assert_eq!(bodies.load(Ordering::Relaxed), LIMIT, "{wrk:?}");
    assert!(wrk.refused() > LIMIT, "that is no load: {wrk:?}");
}
