//! actix-web.

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, Responder, ResponseError, web};

use crate::decision::RateLimitError;
use crate::key::{KeyPart, KeyWriter};
use crate::reject::{FromRateLimitError, NoAnswer, OrLimited};

/// 429 with `Retry-After`, 503, 400 or 500, each with a problem document, or with what the
/// [middleware](crate::RateLimitLayer::error_responses) says.
impl ResponseError for RateLimitError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        // actix-web has types of its own for the same things.
        let (parts, body) = self.http_response().into_parts();
        let status = StatusCode::from_u16(parts.status.as_u16());
        let mut response = HttpResponse::build(status.unwrap_or_else(|_| self.status_code()));
        for (name, value) in &parts.headers {
            response.insert_header((name.as_str(), value.as_bytes()));
        }
        response.body(body)
    }
}

impl FromRateLimitError for HttpResponse {
    fn from_rate_limit_error(error: RateLimitError) -> Self {
        error.error_response()
    }
}

impl<T: Responder, A: Responder> Responder for OrLimited<T, A>
where
    T::Body: MessageBody + 'static,
    A::Body: MessageBody + 'static,
{
    type Body = EitherBody<T::Body, BoxBody>;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse<Self::Body> {
        match self {
            Self::Returned(body) => body.respond_to(request).map_into_left_body(),
            Self::Answered(answer) => {
                answer.respond_to(request).map_into_boxed_body().map_into_right_body()
            }
            Self::Limited(error) => error.error_response().map_into_right_body(),
        }
    }
}

impl Responder for NoAnswer {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        match self {}
    }
}

/// Extractors of actix-web are mostly used without taking them apart.
impl<T: KeyPart> KeyPart for web::Path<T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        T::append_to(self, key);
    }
}
