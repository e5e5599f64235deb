//! Limited handlers of web frameworks, over real sockets.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::items_after_statements,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests: a panic is a failed test"
)]

mod actix;
mod addresses;
mod axum;
mod client;
mod connections;
mod contexts;
mod cors;
mod dual_stack;
mod environment;
mod examples;
mod exempt;
mod fields;
mod grammar;
mod grpc;
mod held;
mod hint;
mod hostile;
mod limiters;
mod load;
mod names;
mod nginx;
mod pacing;
mod protocols;
mod refusals;
mod routes;
mod site;
mod sockets;
mod told;
mod tonic;
mod wrk;

use ratelimit_kit::{Clock, Limiter, ManualClock, OnError};

/// A limiter whose time stands still, so that nothing comes back during a test.
fn limiter() -> Limiter {
    Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap()
}

/// A limiter whose store never answers.
fn without_a_store() -> Limiter {
    // Nobody listens on the port that the kernel keeps for this test and that is given up at once.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("redis://127.0.0.1:{port}");
    Limiter::builder().redis(url).on_error(OnError::Closed).build().unwrap()
}
