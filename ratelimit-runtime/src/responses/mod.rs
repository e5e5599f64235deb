//! What the responses to calls that are not admitted look like, and by how much reported waits are longer: what a
//! layer says of it, kept in the context of a request. `web` makes the responses.

mod body;
mod spread;

use std::fmt;
use std::sync::Arc;

use crate::decision::RateLimitError;

pub use self::body::ErrorBody;
pub(crate) use self::spread::Spread;

/// What the answers are: one place for all handlers behind a layer or middleware.
///
/// It counts for what is answered while the request is served. Where an error becomes a response later, outside of the
/// layer, there is no request any more and a problem document is made;
/// [`http_response`](Self::http_response) makes the one that is wanted.
///
/// ```
/// # use ratelimit_runtime::{ErrorResponses, ErrorBody};
/// let german = ErrorResponses::from_fn(|error| match error.http_status() {
///     429 => ErrorBody::text("Das war zu oft."),
///     _ => ErrorBody::text("Das geht gerade nicht."),
/// });
/// ```
#[derive(Clone, Default)]
pub struct ErrorResponses {
    pub(crate) make: Option<Arc<MakeBody>>,
}

pub(crate) type MakeBody = dyn Fn(&RateLimitError) -> ErrorBody + Send + Sync;

impl ErrorResponses {
    /// Problem documents (RFC 9457). They name no rule, no key and no server: those are nobody's
    /// business outside.
    pub fn problems() -> Self {
        Self::default()
    }

    /// `{"code": 429, "message": "too many requests"}`, which many front ends expect.
    pub fn code_and_message() -> Self {
        Self::code_and_message_of(|error| title(error).to_lowercase())
    }

    /// The same with messages of your own, in any language. That of the client, for example, is in
    /// a header of the [current context](crate::RequestContext::current):
    ///
    /// ```
    /// # use ratelimit_runtime::{ErrorResponses, RequestContext};
    /// let answers = ErrorResponses::code_and_message_of(|error| {
    ///     let context = RequestContext::current();
    ///     let language = context.as_ref().and_then(|context| context.header("accept-language"));
    ///     match (error.http_status(), language) {
    ///         (429, Some(language)) if language.starts_with(b"zh") => "请求过于频繁，请稍后再试",
    ///         (429, _) => "too many requests",
    ///         _ => "not possible right now",
    ///     }
    /// });
    /// ```
    pub fn code_and_message_of<M: AsRef<str>>(
        message: impl Fn(&RateLimitError) -> M + Send + Sync + 'static,
    ) -> Self {
        Self::from_fn(move |error| ErrorBody::code_and_message(error, message(error)))
    }

    /// What a closure makes of the error. It is for the client: errors name rules, and may say more
    /// than a client should know.
    pub fn from_fn(make: impl Fn(&RateLimitError) -> ErrorBody + Send + Sync + 'static) -> Self {
        Self { make: Some(Arc::new(make)) }
    }
}

impl fmt::Debug for ErrorResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorResponses").finish_non_exhaustive()
    }
}

/// The phrase of the status.
pub(crate) fn title(error: &RateLimitError) -> &'static str {
    match error {
        RateLimitError::Limited(_) => "Too Many Requests",
        RateLimitError::Unavailable(_) => "Service Unavailable",
        RateLimitError::Invalid(mistake) if mistake.is_client_error() => "Bad Request",
        RateLimitError::Invalid(_) => "Internal Server Error",
    }
}
