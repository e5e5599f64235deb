//! What generated code may call. Any release may break it.
//!
//! Every annotated function pays for what it calls here with compile time: so these are few, and
//! generic only where a value of the user's comes in.

mod call;
mod number;
mod run;

pub use std::boxed::Box;

pub use self::call::Call;
pub use self::number::{Count, IntoRate, IntoWindow};
pub use self::run::Run;
use crate::algo::Resolution;
use crate::decision::RateLimitError;
use crate::error::ConfigError;
pub use crate::key::KeyBuilder;
use crate::limiter::Limiter;
use crate::reject::FromRateLimitError;
pub use crate::reject::OrLimited;
use crate::rule::{Algorithm, Check, Plan, Rule};
pub use crate::rule::{PER_CALL, PER_CALL_RATE, PER_CALL_WINDOW};

/// What key expressions become: functions, and values of the request.
pub mod key {
    pub use crate::context::{Device, Header, Ip, Method, Path, Route, Tenant, User};
    pub use crate::key::functions::*;
}

/// The arithmetic, for the tests of this repository.
pub mod algo {
    pub use crate::algo::*;
    pub use crate::rule::Plan;
}

/// A rule that is named after the function it stands on.
#[track_caller]
pub const fn unnamed_rule(
    path: fn() -> &'static str,
    suffix: &'static str,
    algorithm: Algorithm,
) -> Rule {
    Rule::unnamed(path, suffix, algorithm)
}

/// The numbers of a check, compiled, for the tests of this repository.
pub fn plan(check: &Check<'_>, resolution: Resolution) -> Result<Plan, ConfigError> {
    check.plan(resolution)
}

/// The secret of a limiter, for the tests of this repository.
pub fn key_secret(limiter: &Limiter) -> Option<&[u8]> {
    limiter.key_secret()
}

/// The secret for `hash(..)` in a `key!`: that of the limiter which annotated functions use.
pub fn secret() -> Option<Vec<u8>> {
    let scope = Limiter::of_scope();
    let limiter = scope.as_ref().or_else(|| Limiter::installed().ok())?;
    limiter.key_secret().map(<[u8]>::to_vec)
}

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
