//! A service on axum, as in the guide `docs/http.md`: who may do what how often is one line each.
//!
//! ```text
//! cargo run --example axum_service --features axum
//! ```

use std::net::SocketAddr;

use axum::Router;
use axum::routing::{get, post};
use ratelimit_kit::{RateLimitError, RateLimitLayer, rate_limit};

/// Five messages a minute for an address.
#[rate_limit(name = "sms-send", key = "@ip", algo = sliding_log, limit = 5, window = "60s")]
async fn send_sms() -> Result<&'static str, RateLimitError> {
    Ok("sent\n")
}

/// Twenty queries in ten seconds for a user, or for an address of which nobody says who it is.
#[rate_limit(
    name = "order-query",
    key = "@user ?: @ip",
    algo = fixed_window,
    limit = 20,
    window = "10s"
)]
async fn query_orders() -> Result<&'static str, RateLimitError> {
    Ok("no orders\n")
}

/// Three at once for a tenant, and five for all of them together: it takes both, or nothing.
#[rate_limit(name = "report-tenant", key = "@tenant ?: @ip", capacity = 3, refill = "1/10s")]
#[rate_limit(name = "report-all", capacity = 5, refill = "1/s")]
async fn report() -> Result<&'static str, RateLimitError> {
    Ok("a report\n")
}

pub(crate) fn app() -> Router {
    let layer = RateLimitLayer::new()
        // For a demonstration: here everybody can be anybody. A service asks whoever has checked a token.
        .user(|request| request.header("x-user-id").map(str::to_owned))
        .tenant(|request| request.header("x-tenant").map(str::to_owned));
    Router::new()
        .route("/api/sms/send", post(send_sms))
        .route("/api/order/query", get(query_orders))
        .route("/api/report", get(report))
        .layer(layer)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    // Without this, axum does not tell anybody the peer's address, and there is no `@ip`.
    let app = app().into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app).await
}
