//! axum.

use axum::body::Body;
use axum::response::{IntoResponse, Response};

use crate::decision::RateLimitError;
use crate::reject::{FromRateLimitError, NoAnswer, OrLimited};

/// 429 with `Retry-After`, 503, 400 or 500, each with a problem document, or with what the
/// [layer](crate::RateLimitLayer::error_responses) says.
impl IntoResponse for RateLimitError {
    fn into_response(self) -> Response {
        self.http_response().map(Body::from)
    }
}

impl FromRateLimitError for Response {
    fn from_rate_limit_error(error: RateLimitError) -> Self {
        error.into_response()
    }
}

impl<T: IntoResponse, A: IntoResponse> IntoResponse for OrLimited<T, A> {
    fn into_response(self) -> Response {
        match self {
            Self::Returned(body) => body.into_response(),
            Self::Answered(answer) => answer.into_response(),
            Self::Limited(error) => error.into_response(),
        }
    }
}

impl IntoResponse for NoAnswer {
    fn into_response(self) -> Response {
        match self {}
    }
}
