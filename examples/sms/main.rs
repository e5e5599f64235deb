//! The main job: an HTTP service whose handlers are limited by one line each.
//!
//! ```text
//! cargo run --example sms                                     # limits of this process
//! cargo run --example sms -- --redis redis://127.0.0.1:6379   # limits of all instances
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program talks to its user")]

mod arguments;
mod error;

use std::io::IsTerminal;
use std::process::ExitCode;

use axum::extract::Query;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Json, Router};
use ratelimit_kit::{Limiter, rate_limit};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use self::arguments::Arguments;
use self::error::ApiError;

#[derive(Deserialize)]
struct Phone {
    phone: String,
}

#[derive(Serialize)]
struct Done {
    done: &'static str,
}

/// Three at once for a phone number, however it is written, then one in ten seconds.
#[rate_limit(
    name = "sms-send",
    key = "'sms:' + digits(req.phone)",
    algo = "token_bucket",
    capacity = 3,
    refill = "1/10s"
)]
async fn send_sms(Json(req): Json<Phone>) -> Result<Json<Done>, ApiError> {
    let _ = req.phone; // Here the message would be sent.
    Ok(Json(Done { done: "sent" }))
}

/// One attempt a minute for a phone number: nobody guesses a code that way.
#[rate_limit(
    name = "sms-verify",
    key = "'verify:' + digits(req.phone)",
    algo = "fixed_window",
    limit = 1,
    window = "60s"
)]
async fn verify_code(Json(req): Json<Phone>) -> Result<Json<Done>, ApiError> {
    let _ = req.phone; // Here the code would be compared.
    Ok(Json(Done { done: "verified" }))
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    page: u32,
}

/// Five queries in ten seconds for a user. All who do not say who they are share one such budget, which any one of
/// them can use up: behind a layer, `@user ?: @ip` gives each address its own (`docs/http.md`).
#[rate_limit(
    name = "orders",
    key = "'orders:' + (user ?: 'anonymous')",
    algo = "sliding_counter",
    limit = 5,
    window = "10s",
    sub_windows = 10
)]
async fn orders(user: Option<&str>, page: u32) -> Result<Json<Done>, ApiError> {
    let _ = (user, page); // Here the orders would be looked up.
    Ok(Json(Done { done: "listed" }))
}

/// A handler that calls a limited function: it does not matter who calls it.
async fn query_orders(
    headers: HeaderMap,
    Query(Page { page }): Query<Page>,
) -> Result<Json<Done>, ApiError> {
    orders(headers.get("x-user-id").and_then(|user| user.to_str().ok()), page).await
}

/// Two checkouts a second reach the payment provider, whatever comes in: a checkout waits for its
/// turn, up to two seconds, and is refused if its turn would come later.
#[rate_limit(name = "checkout", algo = "leaky_bucket", capacity = 10, leak = 2, wait = "2s")]
async fn checkout() -> Result<Json<Done>, ApiError> {
    Ok(Json(Done { done: "paid" }))
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("sms: {sentence}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let Arguments { redis, port } = arguments::parse(std::env::args().skip(1))?;
    let limiter = match &redis {
        Some(url) => Limiter::builder().redis(url).service("sms").build(),
        None => Limiter::builder().build(),
    };
    let limiter = limiter.map_err(|error| error.to_string())?;
    if let Err(error) = limiter.ready().await {
        eprintln!("sms: {error}; until that changes, limits hold for this process only");
    }
    limiter.install().map_err(|error| error.to_string())?;

    let service = Router::new()
        .route("/sms/send", post(send_sms))
        .route("/sms/verify", post(verify_code))
        .route("/orders", get(query_orders))
        .route("/checkout", post(checkout));
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .map_err(|error| format!("port {port} cannot be used ({error}), choose one with --port"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("{}", arguments::to_try(address, redis.is_some()));
    axum::serve(listener, service)
        .with_graceful_shutdown(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await
        .map_err(|error| error.to_string())
}
