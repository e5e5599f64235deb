//! What tests of this workspace share: real servers, alone, in clusters and under sentinels; nginx
//! and wrk; a proxy and a stub for what real servers and networks seldom do; processes of their own,
//! a wall clock that can be moved, load over HTTP, and what is logged.
//!
//! A crate and not a `mod support;` of each test file: it is compiled once instead of once per
//! test binary, an unused helper is no warning, and every package of the workspace can use it. It
//! depends on none of them, so it can be a dev-dependency of all.
//!
//! Everything that is started here ends with the test: when its value is dropped, and through the
//! kernel when the test process is killed.
//!
//! Failing is this crate's way to report: its functions panic, and a panic is a failed test. Only
//! when the machine lacks a server the whole test process ends, with one sentence (see
//! [`Flavor`]).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "helps tests, and a panic is a failed test"
)]

mod background;
mod cluster;
mod door;
mod fake_clock;
mod flavor;
mod fork;
mod lacking;
mod load;
mod log;
mod login;
mod nginx;
mod node;
mod port;
mod preload;
mod process;
mod proxy;
mod scratch;
mod sentinels;
mod server;
mod stub;
mod tls;
mod unique;
mod wait;
mod wrk;

pub use self::cluster::{Cluster, Resharding};
pub use self::fake_clock::FakeClock;
pub use self::flavor::Flavor;
pub use self::fork::fork;
pub use self::load::{Hit, Load, Picture};
pub use self::log::Log;
pub use self::nginx::Nginx;
pub use self::node::{Link, Node, NodeBuilder};
pub use self::proxy::{Lane, Proxy};
pub use self::sentinels::{Sentinels, SentinelsBuilder};
pub use self::server::{Server, ServerBuilder};
pub use self::stub::{Call, Reply, Stub};
pub use self::tls::Tls;
pub use self::unique::unique;
pub use self::wrk::Wrk;
