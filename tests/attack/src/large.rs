//! Eight connections post large bodies of JSON to a route without a limit, one after the other: all threads
//! of the service are busy with them for longer than the deadline of a check. A reply of Redis that is there
//! counts all the same, and honest callers of another route are decided by Redis.

use std::time::Duration;

use axum::routing::{get, post};
use axum::{Json, Router};
use ratelimit_kit::RequestContext;
use tokio::time::{Instant, interval};

use crate::client::{Connection, Request};
use crate::service::{layer, patient_limiter, per_hour, serve};
use crate::{Honest, Report};

const POSTERS: usize = 8;

/// Just below what axum takes.
const BYTES: usize = 1_800_000;

pub(crate) async fn run(lasts: Duration) -> Report {
    let limiter = patient_limiter().await;
    let limited = Router::new()
        .route("/page", get(async || "page"))
        .layer(layer(&limiter).limit(per_hour(1_000_000), RequestContext::ip_key));
    let sum = async |Json(numbers): Json<Vec<u64>>| numbers.len().to_string();
    let address = serve(limited.route("/sum", post(sum))).await;

    let body = format!("[{}1]", "1,".repeat(BYTES / 2 - 2));
    let end = Instant::now() + lasts;
    let mut posting = tokio::task::JoinSet::new();
    for _ in 0..POSTERS {
        let request = Request::get("/sum", "203.0.113.66").method("POST").json(body.clone());
        posting.spawn(async move {
            let (mut connection, mut posted) = (Connection::to(address).await, 0);
            while Instant::now() < end {
                assert_eq!(connection.ask(&request).await.status, 200);
                posted += 1;
            }
            posted
        });
    }
    let mut next = interval(Duration::from_millis(60));
    let mut calls = tokio::task::JoinSet::new();
    while Instant::now() < end {
        next.tick().await;
        let request = Request::get("/page", "198.51.100.2");
        calls.spawn(async move { request.to(address).await.status });
    }
    let mut honest = Honest::default();
    for status in calls.join_all().await {
        honest.count((status != 200).then(|| status.to_string()));
    }
    let posted: usize = posting.join_all().await.into_iter().sum();
    let attack = format!("{posted} bodies of {BYTES} bytes of JSON over {POSTERS} connections");
    Report { attack, honest }
}
