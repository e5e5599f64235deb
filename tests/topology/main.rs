//! A limiter on every way to run Redis that is more than a port: Cluster, Sentinel, TLS, sockets.
//!
//! One binary, a module per topic. Tests that break nothing share one cluster, with keys of their
//! own; those that move slots and kill nodes have one for themselves, and no two of them have one
//! at the same time ([`support::ground`]): a cluster is six processes that talk to each other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unchecked_time_subtraction,
    reason = "tests: a panic is a failed test"
)]

mod support;

mod cluster;
mod direct;
mod finding;
mod group;
mod in_order;
mod moving;
mod outage;
mod sentinel;
mod stopped;
mod tls;
mod ways;
