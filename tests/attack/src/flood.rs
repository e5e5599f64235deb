//! One address, which has used its quota up, asks over 256 connections as fast as it is refused. Others are
//! decided by Redis.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use ratelimit_kit::RequestContext;
use tokio::time::{Instant, interval};

use crate::client::{Connection, Request};
use crate::service::{layer, patient_limiter, per_hour, serve};
use crate::{Honest, Report};

const CONNECTIONS: usize = 256;

/// What an address may do in an hour: honest ones come from ever new ones.
const LIMIT: u64 = 100;

pub(crate) async fn run(lasts: Duration) -> Report {
    let limiter = patient_limiter().await;
    let router = Router::new().route("/page", get(async || "page"));
    let layer = layer(&limiter).limit(per_hour(LIMIT), RequestContext::ip_key);
    let address = serve(router.layer(layer)).await;

    let end = Instant::now() + lasts;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        asking.spawn(async move {
            let (mut connection, mut refused) = (Connection::to(address).await, 0);
            let request = Request::get("/page", "203.0.113.66");
            while Instant::now() < end {
                refused += usize::from(connection.ask(&request).await.status == 429);
            }
            refused
        });
    }
    let mut next = interval(Duration::from_millis(60));
    let mut calls = tokio::task::JoinSet::new();
    while Instant::now() < end {
        next.tick().await;
        let number = calls.len();
        let request = Request::get("/page", format!("198.51.{}.{}", number / 250, number % 250));
        calls.spawn(async move { request.to(address).await.status });
    }
    let mut honest = Honest::default();
    for status in calls.join_all().await {
        honest.count((status != 200).then(|| status.to_string()));
    }
    let refused: usize = asking.join_all().await.into_iter().sum();
    let attack =
        format!("{refused} refused requests of one address over {CONNECTIONS} connections");
    Report { attack, honest }
}
