//! The response of a layer that does not let a request pass.

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use http_body_util::{BodyExt, Full};

use crate::error::RateLimitError;

/// A body in which a layer can say that a request was not admitted: that of axum, that of tonic,
/// those of `http-body-util`, a `String`, or one of your own.
#[diagnostic::on_unimplemented(
    message = "the rate limit layer cannot answer in a `{Self}`",
    label = "not a body of axum, tonic or http-body-util",
    note = "the features `axum` and `tonic` bring theirs; for one of your own, implement `RefusalBody`"
)]
pub trait RefusalBody {
    /// The body that is this text, which may be empty.
    fn of_text(text: String) -> Self;
}

impl RefusalBody for String {
    fn of_text(text: String) -> Self {
        text
    }
}

impl RefusalBody for Full<Bytes> {
    fn of_text(text: String) -> Self {
        Self::from(text)
    }
}

impl<E: 'static> RefusalBody for BoxBody<Bytes, E> {
    fn of_text(text: String) -> Self {
        Self::new(Full::of_text(text).map_err(|never| match never {}))
    }
}

impl<E: 'static> RefusalBody for UnsyncBoxBody<Bytes, E> {
    fn of_text(text: String) -> Self {
        Self::new(Full::of_text(text).map_err(|never| match never {}))
    }
}

#[cfg(feature = "axum")]
impl RefusalBody for axum::body::Body {
    fn of_text(text: String) -> Self {
        Self::from(text)
    }
}

#[cfg(feature = "tonic")]
impl RefusalBody for tonic::body::Body {
    fn of_text(text: String) -> Self {
        Self::new(Full::<Bytes>::of_text(text))
    }
}

/// In which protocol a request is to be answered: one router can serve both.
#[derive(Clone, Debug)]
pub(super) enum Protocol {
    Http,
    /// With the media type of the request: that of gRPC-Web is another.
    #[cfg(feature = "tonic")]
    Grpc(http::HeaderValue),
}

impl Protocol {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        #[cfg(feature = "tonic")]
        if let Some(media_type) = headers.get(http::header::CONTENT_TYPE)
            && is_grpc(media_type.as_bytes())
        {
            return Self::Grpc(media_type.clone());
        }
        #[cfg(not(feature = "tonic"))]
        let _ = headers;
        Self::Http
    }

    /// The whole response.
    #[cfg_attr(
        not(feature = "tonic"),
        expect(clippy::needless_pass_by_value, reason = "as with it")
    )]
    pub(super) fn refuse<B: RefusalBody>(self, error: RateLimitError) -> Response<B> {
        match self {
            Self::Http => error.http_response().map(B::of_text),
            #[cfg(feature = "tonic")]
            Self::Grpc(media_type) => {
                let mut response = tonic::Status::from(error).into_http::<()>();
                response.headers_mut().insert(http::header::CONTENT_TYPE, media_type);
                response.map(|()| B::of_text(String::new()))
            }
        }
    }
}

/// `application/grpc`, `application/grpc+proto`, `application/grpc-web-text` and the like.
#[cfg(feature = "tonic")]
fn is_grpc(media_type: &[u8]) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    media_type.split_at_checked(GRPC.len()).is_some_and(|(start, rest)| {
        let ends = rest.first().is_none_or(|next| !next.is_ascii_alphanumeric());
        start.eq_ignore_ascii_case(GRPC) && ends
    })
}

#[cfg(all(test, feature = "tonic"))]
mod tests {
    use super::is_grpc;

    #[test]
    fn what_is_grpc() {
        let are = ["application/grpc", "Application/gRPC+proto", "application/grpc-web-text+proto"];
        let are = are.into_iter().chain(["application/grpc;charset=utf-8", "application/grpc "]);
        are.for_each(|is| assert!(is_grpc(is.as_bytes()), "{is}"));
        for is_not in
            ["", "application/grp", "application/grpcx", "application/json", "grpc", "\u{e9}"]
        {
            assert!(!is_grpc(is_not.as_bytes()), "{is_not}");
        }
    }
}
