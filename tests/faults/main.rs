//! What a limiter does on the nights on which Redis has trouble: against real servers that are
//! killed, stopped, full or misconfigured, behind a proxy that delays, loses and cuts, and against a
//! stub that answers anything. Tests that are named `bNNN_…` are the numbered specs of the product's
//! behaviour.
//!
//! One binary, a module per topic. Specs that keep up a load for a minute keep it up for some seconds
//! here, and say so: what they ask for holds from the first second on. Tests run side by side; those
//! that measure how long a call takes and those that make noise are kept apart ([`test_stage::machine`]).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unchecked_time_subtraction,
    reason = "tests: a panic is a failed test"
)]

mod support;

mod breaker;
mod configuration;
mod distance;
mod environment;
mod eviction;
mod fallback;
mod fork;
mod impatient;
mod lacking;
mod late;
mod logins;
mod odd_replies;
mod outages;
mod scripts;
mod secrets;
mod sharded;
mod silence;
mod storm;
mod told_once;
