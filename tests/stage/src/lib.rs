//! What tests of limiters share: both stores on a clock that the test moves ([`stage`]), calls at planned
//! times by the clock of the Redis server ([`real_time`]), rules to test with ([`algorithms`]), specs that
//! hold on one server and on a cluster ([`everywhere`]), and who may have the machine to himself
//! ([`machine`]).
//!
//! `test-support` knows servers, networks and processes, and nothing of limiters; this crate puts limiters
//! onto them. Its functions panic, and a panic is a failed test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unchecked_time_subtraction,
    reason = "helps tests, and a panic is a failed test"
)]

pub mod algorithms;
pub mod everywhere;
pub mod machine;
pub mod place;
pub mod real_time;
pub mod stage;
