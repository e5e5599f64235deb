//! What a function returns when its body does not run.

use crate::decision::RateLimitError;

/// A return type that can say that the body did not run.
///
/// `Result` can when its error implements `From<RateLimitError>`, and `Option` by `None`. A type of
/// your own can when it implements this trait:
///
/// ```
/// # use ratelimit_runtime::{FromRateLimitError, RateLimitError};
/// enum Reply {
///     Done(String),
///     ComeBackLater,
/// }
///
/// impl FromRateLimitError for Reply {
///     fn from_rate_limit_error(_: RateLimitError) -> Self {
///         Self::ComeBackLater
///     }
/// }
/// ```
///
/// For a type of somebody else, write `on_limited = ..` in the attribute.
#[diagnostic::on_unimplemented(
    message = "`#[rate_limit]` cannot make a `{Self}` when the body does not run",
    label = "this type has no way to say that the call was limited",
    note = "return a `Result` whose error implements `From<RateLimitError>`, or an `Option`",
    note = "a handler: `-> impl IntoResponse` with the feature `axum`, `-> impl Responder` with `actix`",
    note = "a future behind an alias cannot be seen: write its type out, or an `async fn`",
    note = "or implement `FromRateLimitError` for your own type",
    note = "or say what to return: `on_limited = ..`"
)]
pub trait FromRateLimitError {
    /// What is returned instead of the body's value.
    fn from_rate_limit_error(error: RateLimitError) -> Self;
}

impl<T, E: LimitedError> FromRateLimitError for Result<T, E> {
    fn from_rate_limit_error(error: RateLimitError) -> Self {
        Err(E::limited(error))
    }
}

/// The error of a `Result`: whatever implements `From<RateLimitError>`. A trait of its own, because of `From`
/// rustc tells which others there are, and not what to do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that a call was limited: it does not implement `From<RateLimitError>`",
    label = "a `Result` with the error `{Self}`",
    note = "implement `From<RateLimitError>` for `{Self}`, or return an error type of your own that does",
    note = "or say what to return: `on_limited = Err(..)`"
)]
pub trait LimitedError {
    /// The error for a call whose body does not run.
    fn limited(error: RateLimitError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<RateLimitError>> LimitedError for E {
    fn limited(error: RateLimitError) -> Self {
        error.into()
    }
}

impl<T> FromRateLimitError for Option<T> {
    fn from_rate_limit_error(_: RateLimitError) -> Self {
        None
    }
}

/// What a function returns that hides its type behind `impl IntoResponse` or `impl Responder`: the
/// value of its body, or something of another type when that did not run.
#[derive(Debug)]
pub enum OrLimited<T, A> {
    /// What the body returned.
    Returned(T),
    /// What the attribute says to answer instead.
    Answered(A),
    /// Why the body did not run, when the attribute does not say.
    Limited(RateLimitError),
}

impl<T, A> OrLimited<T, A> {
    /// The value of a body that is not async.
    pub fn returned_by(body: impl FnOnce() -> T) -> Self {
        Self::Returned(body())
    }
}

/// The other answer of a function that has none.
#[derive(Debug)]
pub enum NoAnswer {}

impl<T> OrLimited<T, NoAnswer> {
    /// Why the body did not run, of a function with no other answer.
    #[cold]
    pub const fn limited(error: RateLimitError) -> Self {
        Self::Limited(error)
    }
}
