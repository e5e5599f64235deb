//! Runs conformance vectors: files of calls with the answers that an exact limiter gives. The
//! format and the definitions are in `tests/vectors/README.md`.
//!
//! One runner for everything that decides: [`run`] and [`Subject`] for the arithmetic
//! ([`Arithmetic`]) and for a limiter on any store ([`Limited`]); the tests use it, and
//! `cargo xtask vectors` runs any folder of files with it.
//!
//! [`read`] a folder, [`run`] the scenarios on a subject, print the [`Report`].

mod arithmetic;
mod file;
mod limited;
mod report;
mod run;
mod scenario;
mod subject;

pub use self::arithmetic::Arithmetic;
pub use self::file::read;
pub use self::limited::{Limited, Listing};
pub use self::report::{Mismatch, Report, Skip};
pub use self::run::run;
pub use self::scenario::{Calls, Expected, Load, Quota, Scenario, Step, Wait};
pub use self::subject::Subject;
