//! The service's own error, and what clients see of it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ratelimit_kit::RateLimitError;
use serde_json::json;

/// Everything that can go wrong in a handler. A real service has more variants.
pub(crate) enum ApiError {
    /// The body did not run.
    Limited(RateLimitError),
}

/// This line is what lets `#[rate_limit]` stand on functions that return this error.
impl From<RateLimitError> for ApiError {
    fn from(error: RateLimitError) -> Self {
        Self::Limited(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self::Limited(error) = self;
        let status =
            StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let wait = error.retry_after();
        let message = match error {
            RateLimitError::Limited(_) => "too many requests",
            RateLimitError::Unavailable(_) => "not available right now",
            _ => "this request cannot be served",
        };
        let body = json!({
            "code": status.as_u16(),
            "message": message,
            "wait_ms": wait.map(|wait| wait.as_millis()),
        });
        let mut response = (status, Json(body)).into_response();
        if let Some(wait) = wait {
            // Whole seconds, rounded up: who comes back as told is not refused again.
            let seconds = wait.as_millis().div_ceil(1_000).max(1);
            if let Ok(value) = HeaderValue::from_str(&seconds.to_string()) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
        }
        response
    }
}
