//! The service of `axum_service` on actix-web.
//!
//! ```text
//! cargo run --example actix_service --features actix
//! ```

use actix_web::web::ServiceConfig;
use actix_web::{App, HttpServer, get, post};
use ratelimit_kit::{RateLimitError, RateLimitLayer, rate_limit};

/// Five messages a minute for an address.
#[post("/api/sms/send")]
#[rate_limit(name = "sms-send", key = "@ip", algo = sliding_log, limit = 5, window = "60s")]
async fn send_sms() -> Result<&'static str, RateLimitError> {
    Ok("sent\n")
}

/// Twenty queries in ten seconds for a user, or for an address of which nobody says who it is.
#[get("/api/order/query")]
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
#[get("/api/report")]
#[rate_limit(name = "report-tenant", key = "@tenant ?: @ip", capacity = 3, refill = "1/10s")]
#[rate_limit(name = "report-all", capacity = 5, refill = "1/s")]
async fn report() -> Result<&'static str, RateLimitError> {
    Ok("a report\n")
}

pub(crate) fn layer() -> RateLimitLayer {
    RateLimitLayer::new()
        // For a demonstration: here everybody can be anybody. A service asks whoever has checked a token.
        .user(|request| request.header("x-user-id").map(str::to_owned))
        .tenant(|request| request.header("x-tenant").map(str::to_owned))
}

pub(crate) fn routes(config: &mut ServiceConfig) {
    config.service(send_sms).service(query_orders).service(report);
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // Outside of the closure: all workers have one.
    let layer = layer();
    HttpServer::new(move || App::new().wrap(layer.clone()).configure(routes))
        .bind("127.0.0.1:3000")?
        .run()
        .await
}
