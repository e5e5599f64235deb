//! What a function returns when its body does not run.

use crate::error::RateLimitError;

/// A return type that can say that the body did not run.
#[diagnostic::on_unimplemented(
    message = "`#[rate_limit]` cannot make a `{Self}` when the body does not run",
    note = "return a `Result` whose error implements `From<RateLimitError>`, or write `on_limited = …`"
)]
pub trait FromRateLimitError {
    /// The value to return instead of running the body.
    fn from_rate_limit_error(error: RateLimitError) -> Self;
}

impl<T, E: From<RateLimitError>> FromRateLimitError for Result<T, E> {
    fn from_rate_limit_error(error: RateLimitError) -> Self {
        Err(error.into())
    }
}

impl<T> FromRateLimitError for Option<T> {
    fn from_rate_limit_error(_: RateLimitError) -> Self {
        None
    }
}
