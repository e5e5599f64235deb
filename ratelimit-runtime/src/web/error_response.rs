//! The HTTP response to a call that was not admitted, in no framework's types.

use std::time::Instant;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::caching::NO_STORE;
use crate::context::RequestContext;
use crate::decision::RateLimitError;
use crate::error::{ConfigError, InvalidCall};
use crate::responses::{ErrorBody, ErrorResponses, title};
use crate::spacing::OnceAMinute;

impl ErrorBody {
    /// A problem document (RFC 9457), as it is by default.
    pub fn problem(error: &RateLimitError) -> Self {
        problem(error)
    }
}

impl ErrorResponses {
    /// The HTTP response to a call that was not admitted, whatever layer is around it: as
    /// [`RateLimitError::http_response`] otherwise.
    pub fn http_response(&self, error: &RateLimitError) -> Response<String> {
        let ErrorBody { media_type, text, status, headers: own } = match &self.make {
            Some(make) => make(error),
            None => problem(error),
        };
        let status = status.filter(|status| (200..600).contains(status));
        let mut response = Response::new(text);
        *response.status_mut() =
            StatusCode::from_u16(status.unwrap_or_else(|| error.http_status()))
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        // It is about this client and this moment.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(NO_STORE));
        // The user's own, and so perhaps none.
        if let Ok(media_type) = HeaderValue::from_str(media_type) {
            headers.insert(CONTENT_TYPE, media_type);
        }
        if let Some(seconds) = error.retry_after_seconds() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        for (name, value) in &own {
            match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
                (Ok(name), Ok(value)) => _ = headers.insert(name, value),
                _ => left_out(name),
            }
        }
        response
    }
}

/// Says that there is a header field that cannot be.
#[cold]
fn left_out(name: &str) {
    static LINES: OnceAMinute = OnceAMinute::new();
    if LINES.is_due(Instant::now()) {
        tracing::error!(
            header = name.escape_debug().to_string(),
            "a header field of an error response is left out: its name or its value is not valid"
        );
    }
}

impl RateLimitError {
    /// The HTTP response to a call that was not admitted: its [status](Self::http_status), with
    /// `Retry-After` if waiting helps, and with the body that the layer around it
    /// [says](crate::RateLimitLayer::error_responses); without one a problem document. `Cache-Control` is `no-store`.
    ///
    /// The features `axum` and `actix` make it a response of those by itself.
    pub fn http_response(&self) -> Response<String> {
        RequestContext::current_responses().http_response(self)
    }

    /// What `Retry-After` says: [`retry_after`](Self::retry_after) in whole seconds, rounded up and at least 1, so that a client
    /// that waits as told is not too early. With what the layer around it
    /// [adds](crate::RateLimitLayer::spread_waits), for bodies of one's own.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after().map(|wait| RequestContext::current_spread().seconds(wait).max(1))
    }
}

fn problem(error: &RateLimitError) -> ErrorBody {
    let detail = match (error, error.retry_after_seconds()) {
        (RateLimitError::Limited(_), Some(seconds)) => format!("retry in {seconds} s"),
        (RateLimitError::Limited(_), None) => "this request can never be admitted".to_owned(),
        (RateLimitError::Unavailable(_), _) => "the rate limit cannot be decided".to_owned(),
        (RateLimitError::Invalid(mistake), _) => match mistake {
            InvalidCall::EmptyKey { .. } => "the rate limit key is empty",
            InvalidCall::CostExceedsCapacity { .. } => "the request is larger than the limit",
            InvalidCall::NegativeCost { .. } => "the request cannot be rate limited",
            InvalidCall::Config(ConfigError::TooManyChecks { .. }) => {
                "the request names too many things at once"
            }
            _ => "the rate limit is not set up",
        }
        .to_owned(),
    };
    let (status, title) = (error.http_status(), title(error));
    // None of these texts has a character that JSON would escape.
    let text = format!(
        r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}"}}"#
    );
    ErrorBody::new("application/problem+json", text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::{Clock, ManualClock};
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Check, Rule};

    /// The answer to the second call in a window, so long before its end.
    fn refused(left: Duration) -> Response<String> {
        let window = Duration::from_secs(10);
        let rule = Rule::new("r", Algorithm::FixedWindow { limit: 1, window });
        let clock = ManualClock::new();
        let limiter = Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap();
        limiter.check_blocking(&Check::new(&rule, "k")).unwrap();
        clock.advance(window.checked_sub(left).unwrap());
        let error = limiter.check_blocking(&Check::new(&rule, "k")).unwrap_err();
        assert_eq!(error.retry_after(), Some(left));
        error.http_response()
    }

    #[test]
    fn b083_retry_after_is_rounded_up_and_never_zero() {
        for (ms, seconds) in [(9_001, "10"), (1_001, "2"), (1_000, "1"), (999, "1"), (1, "1")] {
            let answer = refused(Duration::from_millis(ms));
            assert_eq!(
                (answer.status().as_u16(), &answer.headers()[RETRY_AFTER]),
                (429, &HeaderValue::from_static(seconds)),
                "{ms}"
            );
        }
    }

    #[test]
    fn the_body_is_a_problem_document() {
        let body = refused(Duration::from_secs(2)).into_body();
        let written = r#"{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"retry in 2 s"}"#;
        assert_eq!(body, written);
    }

    #[test]
    fn mistakes_have_no_wait() {
        let callers = InvalidCall::EmptyKey { rule: "secret".into() };
        let ours = InvalidCall::Config(ConfigError::AlreadyInstalled { at: None });
        for (mistake, status) in [(callers, 400), (ours, 500)] {
            let answer = RateLimitError::from(mistake).http_response();
            assert_eq!(answer.status().as_u16(), status);
            assert!(!answer.headers().contains_key(RETRY_AFTER));
            assert!(!answer.body().contains("secret"));
        }
    }

    #[test]
    fn f40_status_and_header_fields_can_be_chosen() {
        let within = |make: fn(&RateLimitError) -> ErrorBody| {
            let context =
                RequestContext::builder().responses(ErrorResponses::from_fn(make)).build();
            context.scope_blocking(|| refused(Duration::from_secs(2)))
        };
        let answer = within(|error| {
            ErrorBody::code_and_message(error, "\"often\"")
                .with_status(200)
                .with_header("X-Limited-By", "shop")
                .with_header("x-twice", "1")
                .with_header("x-twice", "2")
        });
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["x-limited-by"], "shop");
        assert_eq!(answer.headers()["x-twice"], "2");
        assert_eq!(
            (&answer.headers()[RETRY_AFTER], &answer.headers()[CACHE_CONTROL]),
            (&HeaderValue::from_static("2"), &HeaderValue::from_static("no-store"))
        );
        assert_eq!(answer.body(), r#"{"code":429,"message":"\"often\""}"#);
        // In place of ours.
        let answer = within(|error| {
            ErrorBody::problem(error)
                .with_header("Retry-After", "9")
                .with_header("cache-control", "private")
        });
        assert_eq!(answer.headers()[RETRY_AFTER], "9");
        assert_eq!(answer.headers()[CACHE_CONTROL], "private");
        // What cannot be is not there, and nothing else is missing.
        let answer = within(|error| {
            ErrorBody::problem(error)
                .with_header("no name", "x")
                .with_header("x-two", "lines\r\nset-cookie: a=b")
                .with_header("x-one", "line")
        });
        assert_eq!(answer.headers().len(), 4, "{answer:?}");
        assert_eq!(answer.headers()["x-one"], "line");
        for status in [0, 99, 100, 199, 600, 1_000, u16::MAX] {
            let own = ErrorResponses::from_fn(move |_| ErrorBody::text("x").with_status(status));
            let context = RequestContext::builder().responses(own).build();
            let answer = context.scope_blocking(|| refused(Duration::from_secs(2)));
            assert_eq!(answer.status().as_u16(), 429, "{status}");
        }
    }

    #[test]
    fn f40_outside_of_its_request_an_answer_can_be_made_as_well() {
        let answers = ErrorResponses::code_and_message_of(|_| "later");
        let error = RateLimitError::from(InvalidCall::EmptyKey { rule: "r".into() });
        let answer = answers.http_response(&error);
        assert_eq!(answer.status().as_u16(), 400);
        assert_eq!(answer.body(), r#"{"code":400,"message":"later"}"#);
        assert_eq!(error.http_response().headers()[CONTENT_TYPE], "application/problem+json");
    }

    #[test]
    fn the_layer_says_what_the_body_is() {
        let within = |answers| {
            let context = RequestContext::builder().responses(answers).build();
            let response = context.scope_blocking(|| refused(Duration::from_secs(2)));
            let media_type = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
            (media_type, response.into_body())
        };
        let (media_type, plain) = within(ErrorResponses::code_and_message());
        assert_eq!(media_type, "application/json");
        assert_eq!(plain, r#"{"code":429,"message":"too many requests"}"#);
        let (_, quoted) = within(ErrorResponses::code_and_message_of(|_| "\"a\\b\"\n\u{1}太多"));
        assert_eq!(quoted, "{\"code\":429,\"message\":\"\\\"a\\\\b\\\"\\u000a\\u0001太多\"}");
        let own = ErrorResponses::from_fn(|error| ErrorBody::text(error.http_status().to_string()));
        assert_eq!(within(own), ("text/plain; charset=utf-8".to_owned(), "429".to_owned()));
        assert_eq!(within(ErrorResponses::problems()).0, "application/problem+json");
    }
}
