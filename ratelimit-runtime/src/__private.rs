//! What generated code may call. Any release may break it.
//!
//! Every annotated function pays for what it calls here with compile time: so these are few, and
//! generic only where a value of the user's comes in.

mod call;
mod number;
mod run;

pub use std::boxed::Box;
use std::time::Duration;

pub use self::call::Call;
pub use self::number::{Count, IntoRate, IntoWindow};
pub use self::run::Run;
use crate::error::RateLimitError;
pub use crate::key::{KeyBuilder, functions as key};
use crate::reject::FromRateLimitError;
pub use crate::reject::OrLimited;
use crate::rule::Rate;

/// Stands in a rule for a count that every call brings along. No rule can have it for a number.
pub const PER_CALL: u64 = u64::MAX;
/// Stands in a rule for a rate that every call brings along.
pub const PER_CALL_RATE: Rate = Rate::per_second(PER_CALL);
/// Stands in a rule for a window that every call brings along.
pub const PER_CALL_WINDOW: Duration = Duration::MAX;

/// What the function returns when nothing else was said.
#[cold]
pub fn reject<T: FromRateLimitError>(error: RateLimitError) -> T {
    T::from_rate_limit_error(error)
}

/// What the function returns when a closure says so. A closure that is called where it is written
/// would have to write the type of its argument.
#[cold]
pub fn answer<T>(error: RateLimitError, handler: impl FnOnce(RateLimitError) -> T) -> T {
    handler(error)
}

/// The future that the body of a function makes. A closure that is called where it is written could not
/// return what it borrows through an argument that is `&mut`.
#[inline]
pub fn build<F>(body: impl FnOnce() -> F) -> F {
    body()
}

/// How many tasks live on the limiters' own thread, for a test that looks for leaks.
pub fn tasks() -> usize {
    crate::driver::handle().map_or(0, |handle| handle.metrics().num_alive_tasks())
}
