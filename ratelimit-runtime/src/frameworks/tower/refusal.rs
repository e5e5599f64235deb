//! The response of a layer that does not let a request pass.

use bytes::Bytes;
#[cfg(feature = "tonic")]
use http::{HeaderValue, header::CONTENT_TYPE};
use http::{Request, Response};
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use http_body_util::{BodyExt, Full};

use crate::decision::RateLimitError;

/// A body in which a layer can say that a request was not admitted: that of axum, that of tonic,
/// those of `http-body-util`, a `String`, or one of your own.
#[diagnostic::on_unimplemented(
    message = "the rate limit layer cannot answer in a `{Self}`",
    label = "not a body of axum, tonic or http-body-util",
    note = "the features `axum` and `tonic` bring theirs; for one of your own, implement `TextBody`"
)]
pub trait TextBody {
    /// The body that is this text, which may be empty.
    fn from_text(text: String) -> Self;
}

impl TextBody for String {
    fn from_text(text: String) -> Self {
        text
    }
}

impl TextBody for Full<Bytes> {
    fn from_text(text: String) -> Self {
        Self::from(text)
    }
}

impl<E: 'static> TextBody for BoxBody<Bytes, E> {
    fn from_text(text: String) -> Self {
        Self::new(Full::from_text(text).map_err(|never| match never {}))
    }
}

impl<E: 'static> TextBody for UnsyncBoxBody<Bytes, E> {
    fn from_text(text: String) -> Self {
        Self::new(Full::from_text(text).map_err(|never| match never {}))
    }
}

#[cfg(feature = "axum")]
impl TextBody for axum::body::Body {
    fn from_text(text: String) -> Self {
        Self::from(text)
    }
}

#[cfg(feature = "tonic")]
impl TextBody for tonic::body::Body {
    fn from_text(text: String) -> Self {
        Self::new(Full::<Bytes>::from_text(text))
    }
}

/// In which protocol a request is refused: one router can serve both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http,
    /// With this media type, which is always one of ours: a client's own text is not repeated.
    #[cfg(feature = "tonic")]
    Grpc(&'static str),
}

impl Protocol {
    /// `side` is whether the application says that a request is for gRPC, where it says anything.
    ///
    /// A header alone decides nothing, since anybody can send any: a refusal that is a 200 is one that caches
    /// keep and that no log counts.
    pub(super) fn of<B>(request: &Request<B>, side: Option<bool>) -> Self {
        #[cfg(feature = "tonic")]
        if let Some(media_type) = grpc::media_type(request, side) {
            return Self::Grpc(media_type);
        }
        #[cfg(not(feature = "tonic"))]
        let _ = (request, side);
        Self::Http
    }

    /// The whole response.
    #[cfg_attr(
        not(feature = "tonic"),
        expect(clippy::needless_pass_by_value, reason = "as with it")
    )]
    pub(super) fn refuse<B: TextBody>(self, error: RateLimitError) -> Response<B> {
        match self {
            Self::Http => error.http_response().map(B::from_text),
            #[cfg(feature = "tonic")]
            Self::Grpc(media_type) => {
                let mut response = tonic::Status::from(error).into_http::<()>();
                let media_type = HeaderValue::from_static(media_type);
                response.headers_mut().insert(CONTENT_TYPE, media_type);
                response.map(|()| B::from_text(String::new()))
            }
        }
    }
}

/// What gRPC looks like on the wire.
#[cfg(feature = "tonic")]
mod grpc {
    use http::header::{CONTENT_TYPE, TE};
    use http::{HeaderMap, Method, Request, Version};

    /// The media type of the answer, if the request is to be answered in gRPC.
    ///
    /// Where the application says that a request is for gRPC, its media type says in which form: a proxy
    /// for gRPC-Web may have made HTTP/1.1 of it. Where nothing is said, only gRPC itself counts, which
    /// no browser, cache or form can speak by accident.
    pub(super) fn media_type<B>(request: &Request<B>, side: Option<bool>) -> Option<&'static str> {
        let is_spoken = match side {
            Some(is_grpc) => is_grpc,
            None => {
                matches!(request.version(), Version::HTTP_2 | Version::HTTP_3)
                    && takes_trailers(request.headers())
            }
        };
        if request.method() != Method::POST || !is_spoken {
            return None;
        }
        let answer = answer_to(request.headers().get(CONTENT_TYPE)?.as_bytes())?;
        (answer == NATIVE || side.is_some()).then_some(answer)
    }

    const NATIVE: &str = "application/grpc";

    /// The media type of an answer to a request of this one.
    fn answer_to(media_type: &[u8]) -> Option<&'static str> {
        let end = media_type.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t'));
        let essence = media_type.get(..end.unwrap_or(media_type.len()))?;
        // `+proto`, `+json` and the like are about the messages, and there is none in the answer.
        let form = essence.split(|byte| *byte == b'+').next()?;
        let is = |name: &str| form.eq_ignore_ascii_case(name.as_bytes());
        let forms = [
            (NATIVE, NATIVE),
            ("application/grpc-web", "application/grpc-web+proto"),
            ("application/grpc-web-text", "application/grpc-web-text+proto"),
        ];
        forms.into_iter().find(|(name, _)| is(name)).map(|(_, answer)| answer)
    }

    /// `te: trailers`, without which no gRPC server answers.
    fn takes_trailers(headers: &HeaderMap) -> bool {
        let mut codings = headers
            .get_all(TE)
            .into_iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii));
        codings.any(|coding| coding.eq_ignore_ascii_case(b"trailers"))
    }
}
