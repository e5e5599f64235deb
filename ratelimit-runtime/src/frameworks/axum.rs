//! axum, and everything else whose responses are those of the `http` crate.

use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};

use super::answer::{HttpAnswer, MEDIA_TYPE};
use crate::error::RateLimitError;
use crate::reject::{FromRateLimitError, NoAnswer, OrLimited};

/// 429 with `Retry-After`, 503, 400 or 500, each with a problem document.
impl IntoResponse for RateLimitError {
    fn into_response(self) -> Response {
        let answer = HttpAnswer::to(&self);
        let mut response = Response::new(Body::from(answer.body));
        *response.status_mut() =
            StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = answer.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
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
