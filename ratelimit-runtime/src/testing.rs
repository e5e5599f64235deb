//! For tests of limited functions.
//!
//! Tests run side by side in one process, and would share the budgets of its limiter. Here every
//! test has a limiter of its own, on a clock that stands still until the test moves it:
//!
//! ```
//! # extern crate ratelimit_runtime as ratelimit_kit;
//! use ratelimit_kit::testing;
//! # use ratelimit_runtime::{Algorithm, Check, Limiter, Rate, RateLimitError, Rule};
//! # use std::time::Duration;
//! # static RULE: Rule =
//! #     Rule::new("sms", Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(1) });
//! # fn send_sms(_: &str) -> Result<(), RateLimitError> {
//! #     let mut call = ratelimit_runtime::__private::Call::new();
//! #     call.check(&RULE, "1".into());
//! #     call.run_blocking()
//! # }
//!
//! let (limiter, clock) = testing::limiter();
//! testing::with_limiter(&limiter, || {
//!     assert!(send_sms("13800000000").is_ok());
//!     let refusal = testing::assert_limited(send_sms("13800000000"));
//!     assert_eq!(refusal.retry_after(), Some(Duration::from_secs(1)));
//!
//!     clock.advance(Duration::from_secs(1));
//!     assert!(send_sms("13800000000").is_ok());
//! });
//! ```

use std::error::Error;
use std::fmt::Debug;

use crate::clock::{Clock, ManualClock};
use crate::decision::{Limited, RateLimitError};
use crate::limiter::{Limiter, OF_SCOPE};
use crate::rule::Mode;

/// A limiter on an embedded store of its own, and the clock that moves its time.
///
/// A function with `wait` does not wait in real time, nor for the test to move the clock: it moves
/// the clock itself, by as much as it has to wait, and goes on.
pub fn limiter() -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    let builder = Limiter::builder().clock(Clock::Manual(clock.clone())).auto_advance();
    (builder.in_process(Mode::Enforce), clock)
}

/// Runs a closure in which limited functions use this limiter, instead of that of the process.
///
/// For functions that are not async: a future that the closure makes runs after it, on the limiter
/// of the process. Use [`with_limiter_async`].
pub fn with_limiter<R>(limiter: &Limiter, run: impl FnOnce() -> R) -> R {
    OF_SCOPE.sync_scope(limiter.clone(), run)
}

/// Runs a future in which limited functions use this limiter, instead of that of the process.
/// Tasks that it spawns do not.
pub async fn with_limiter_async<F: Future>(limiter: &Limiter, future: F) -> F::Output {
    OF_SCOPE.scope(limiter.clone(), future).await
}

/// Expects that a function was refused, and returns why.
///
/// The error, or one of its [sources](Error::source), has to be a [`RateLimitError`].
///
/// # Panics
///
/// If the function ran, or failed for another reason.
#[track_caller]
#[expect(clippy::panic, reason = "it is an assertion")]
pub fn assert_limited<T: Debug, E: Error + 'static>(result: Result<T, E>) -> Limited {
    let error = match result {
        Ok(value) => panic!("expected a refusal, but the call was admitted: {value:?}"),
        Err(error) => error,
    };
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(RateLimitError::Limited(refusal)) = error.downcast_ref() {
            return refusal.clone();
        }
        cause = error.source();
    }
    panic!("expected a refusal, but the call failed: {error}")
}
