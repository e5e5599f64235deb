//! What a limiter does, seen from outside: through `ratelimit_kit`, on the embedded store and on a
//! real Redis. Tests that are named `bNNN_…` are the numbered specs of the product's behaviour.
//!
//! One binary, a module per topic. What has to do with no time but its own runs on a clock that the
//! test moves, on both stores, with equal and exact results ([`test_stage::stage`]). What is about real time is
//! measured by the clock of the Redis server ([`test_stage::real_time`]). The machine is small and tests run
//! side by side, so those that need quiet and those that make noise are kept apart ([`test_stage::machine`]).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unchecked_time_subtraction,
    reason = "tests: a panic is a failed test"
)]

mod agreement;
mod annotated;
mod buckets;
mod churn;
mod clocks;
mod concurrency;
mod denials;
mod direct;
mod events;
mod eviction;
mod figures;
mod front_page;
mod give_back;
mod leaving;
mod limits;
mod load;
mod mistakes;
mod numbers;
mod runtimes;
mod state;
mod unavailable;
mod windows;
