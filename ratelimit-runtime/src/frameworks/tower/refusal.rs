//! The response of a layer that does not let a request pass.

use http::Response;

use crate::error::RateLimitError;

/// A body in which a layer can say that a request was not admitted: that of axum, that of tonic, or
/// one of your own, made from [`RateLimitError::http_response`].
#[diagnostic::on_unimplemented(
    message = "the rate limit layer cannot answer in a `{Self}`",
    label = "not the body of axum or tonic",
    note = "the features `axum` and `tonic` bring theirs; for another, implement `RefusalBody`"
)]
pub trait RefusalBody: Sized {
    /// The whole response.
    fn refusal(error: RateLimitError) -> Response<Self>;
}

impl RefusalBody for String {
    fn refusal(error: RateLimitError) -> Response<Self> {
        error.http_response()
    }
}

#[cfg(feature = "axum")]
impl RefusalBody for axum::body::Body {
    fn refusal(error: RateLimitError) -> Response<Self> {
        axum::response::IntoResponse::into_response(error)
    }
}

#[cfg(feature = "tonic")]
impl RefusalBody for tonic::body::Body {
    fn refusal(error: RateLimitError) -> Response<Self> {
        tonic::Status::from(error).into_http()
    }
}
