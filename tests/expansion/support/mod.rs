//! What every test here needs.

use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use ratelimit_kit::{Clock, Limiter, ManualClock, RateLimitError};

/// The clock of [`LIMITER`]: it never moves, so that nothing comes back during a test.
static CLOCK: LazyLock<ManualClock> = LazyLock::new(ManualClock::new);

/// The limiter of these tests. Rules have names or functions of their own, so tests share nothing.
pub(crate) static LIMITER: LazyLock<Limiter> = LazyLock::new(limiter);

/// A limiter of a test's own.
pub(crate) fn limiter() -> Limiter {
    Limiter::builder().clock(Clock::Manual(CLOCK.clone())).build().unwrap()
}

/// An error type as people write them.
#[derive(Debug)]
pub(crate) enum Error {
    Limited(RateLimitError),
    Business,
}

impl From<RateLimitError> for Error {
    fn from(error: RateLimitError) -> Self {
        Self::Limited(error)
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(_: std::num::ParseIntError) -> Self {
        Self::Business
    }
}

impl Error {
    /// The rule that refused.
    pub(crate) fn refused_by(&self) -> String {
        match self {
            Self::Limited(RateLimitError::Limited(refusal)) => refusal.rule().to_owned(),
            other => panic!("not a refusal: {other:?}"),
        }
    }

    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Limited(RateLimitError::Limited(_)))
    }
}

/// Whether the budget was used up.
pub(crate) fn refused<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(error) if error.is_refusal())
}

/// Runs a future that never has to wait: decisions in process are made at once.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the decision was not made at once"),
    }
}
