//! The response of a layer that does not let a request pass.

use bytes::Bytes;
use http::Response;
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use http_body_util::{BodyExt, Full};

use crate::error::RateLimitError;

/// A body in which a layer can say that a request was not admitted: that of axum, that of tonic,
/// those of `http-body-util`, a `String`, or one of your own, made from
/// [`RateLimitError::http_response`].
#[diagnostic::on_unimplemented(
    message = "the rate limit layer cannot answer in a `{Self}`",
    label = "not a body of axum, tonic or http-body-util",
    note = "the features `axum` and `tonic` bring theirs; for one of your own, implement `RefusalBody`"
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

impl RefusalBody for Full<Bytes> {
    fn refusal(error: RateLimitError) -> Response<Self> {
        error.http_response().map(Self::from)
    }
}

impl<E: 'static> RefusalBody for BoxBody<Bytes, E> {
    fn refusal(error: RateLimitError) -> Response<Self> {
        Full::refusal(error).map(|body| Self::new(body.map_err(|never| match never {})))
    }
}

impl<E: 'static> RefusalBody for UnsyncBoxBody<Bytes, E> {
    fn refusal(error: RateLimitError) -> Response<Self> {
        Full::refusal(error).map(|body| Self::new(body.map_err(|never| match never {})))
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
