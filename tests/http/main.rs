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
mod sockets;
mod support;
mod told;
mod tonic;
mod wrk;
