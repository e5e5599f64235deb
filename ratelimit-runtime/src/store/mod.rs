//! Where decisions are made: in this process, or in Redis.

mod embedded;
#[cfg(feature = "redis")]
pub mod redis;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use smallvec::SmallVec;

use crate::algo::Answer;
use crate::error::StoreError;
use crate::rule::Check;

pub use embedded::Embedded;

/// One answer per check, in their order.
pub type Answers = SmallVec<[Answer; 1]>;

/// A future in a box, so that stores can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides lists of checks, all or nothing: if every enforced check admits, every check that admits
/// is charged; else none is.
///
/// A store knows no policy: no deadline, no fallback, no metrics. The [`Limiter`](crate::Limiter)
/// has those, and it has looked at the checks before: there is at least one, none of a rule that is
/// off, and no two of one rule and key.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Decides at once, if that takes no waiting; `None` if it does.
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        let _ = checks;
        None
    }

    /// Decides.
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>>;

    /// Forgets what is used of the key of a check.
    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Says whether the store can answer; waits for its first attempt to connect.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}
