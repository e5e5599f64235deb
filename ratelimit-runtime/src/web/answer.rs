//! The HTTP answer to a call that was not admitted, in no framework's types.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

use super::caching::NO_STORE;
use crate::context::Context;
use crate::error::{ConfigError, Mistake, RateLimitError};

/// What the body of an answer is, when a call is not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorBody {
    /// For `Content-Type`.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

impl ErrorBody {
    /// JSON.
    pub fn json(text: impl Into<String>) -> Self {
        Self { media_type: "application/json", text: text.into() }
    }

    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { media_type: "text/plain; charset=utf-8", text: text.into() }
    }
}

/// What the bodies of answers are: one place for all handlers behind a layer or middleware.
///
/// ```
/// # use ratelimit_runtime::{ErrorResponses, ErrorBody};
/// let german = ErrorResponses::with(|error| match error.http_status() {
///     429 => ErrorBody::text("Das war zu oft."),
///     _ => ErrorBody::text("Das geht gerade nicht."),
/// });
/// ```
#[derive(Clone, Default)]
pub struct ErrorResponses {
    make: Option<Arc<MakeBody>>,
}

type MakeBody = dyn Fn(&RateLimitError) -> ErrorBody + Send + Sync;

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
    /// a header of the [current context](Context::current):
    ///
    /// ```
    /// # use ratelimit_runtime::{ErrorResponses, Context};
    /// let answers = ErrorResponses::code_and_message_of(|error| {
    ///     let context = Context::current();
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
        Self::with(move |error| {
            let code = error.http_status();
            let message = json_string(message(error).as_ref());
            ErrorBody::json(format!(r#"{{"code":{code},"message":{message}}}"#))
        })
    }

    /// What a closure makes of the error. It is for the client: errors name rules, and may say more
    /// than a client should know.
    pub fn with(make: impl Fn(&RateLimitError) -> ErrorBody + Send + Sync + 'static) -> Self {
        Self { make: Some(Arc::new(make)) }
    }

    fn body(&self, error: &RateLimitError) -> ErrorBody {
        match &self.make {
            Some(make) => make(error),
            None => problem(error),
        }
    }
}

impl fmt::Debug for ErrorResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorResponses").finish_non_exhaustive()
    }
}

impl RateLimitError {
    /// The HTTP response to a call that was not admitted: its [status](Self::http_status), with
    /// `Retry-After` if waiting helps, and with the body that the layer around it
    /// [says](crate::RateLimitLayer::error_responses); without one a problem document. `Cache-Control` is `no-store`.
    ///
    /// The features `axum` and `actix` make it a response of those by itself.
    pub fn http_response(&self) -> Response<String> {
        let ErrorBody { media_type, text } = Context::answers().body(self);
        let mut response = Response::new(text);
        *response.status_mut() =
            StatusCode::from_u16(self.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        // It is about this client and this moment.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(NO_STORE));
        // The user's own, and so perhaps none.
        if let Ok(media_type) = HeaderValue::from_str(media_type) {
            headers.insert(CONTENT_TYPE, media_type);
        }
        if let Some(wait) = self.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        response
    }
}

fn title(error: &RateLimitError) -> &'static str {
    match error {
        RateLimitError::Refused(_) => "Too Many Requests",
        RateLimitError::Unavailable(_) => "Service Unavailable",
        RateLimitError::Mistake(mistake) if mistake.is_callers() => "Bad Request",
        RateLimitError::Mistake(_) => "Internal Server Error",
    }
}

fn problem(error: &RateLimitError) -> ErrorBody {
    let detail = match (error, error.retry_after().map(whole_seconds)) {
        (RateLimitError::Refused(_), Some(seconds)) => format!("retry in {seconds} s"),
        (RateLimitError::Refused(_), None) => "no such request is admitted".to_owned(),
        (RateLimitError::Unavailable(_), _) => "the rate limit cannot be decided".to_owned(),
        (RateLimitError::Mistake(mistake), _) => match mistake {
            Mistake::EmptyKey { .. } => "what the request is limited by is empty",
            Mistake::CostExceedsCapacity { .. } => "the request is larger than the limit",
            Mistake::NegativeCost { .. } => "the request cannot be rate limited",
            Mistake::Config(ConfigError::TooManyChecks { .. }) => {
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
    ErrorBody { media_type: "application/problem+json", text }
}

/// A string of JSON, in quotes.
fn json_string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_ascii_control() => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

/// For `Retry-After`: rounded up and at least 1, so that a client that waits as told is not too early.
fn whole_seconds(wait: Duration) -> u64 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1)
}

#[cfg(test)]
mod tests {
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
        let callers = Mistake::EmptyKey { rule: "secret".into() };
        let ours = Mistake::Config(ConfigError::AlreadyInstalled { at: None });
        for (mistake, status) in [(callers, 400), (ours, 500)] {
            let answer = RateLimitError::from(mistake).http_response();
            assert_eq!(answer.status().as_u16(), status);
            assert!(!answer.headers().contains_key(RETRY_AFTER));
            assert!(!answer.body().contains("secret"));
        }
    }

    #[test]
    fn the_layer_says_what_the_body_is() {
        let within = |answers| {
            let context = Context::builder().answers(answers).build();
            let response = context.scope_blocking(|| refused(Duration::from_secs(2)));
            let media_type = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
            (media_type, response.into_body())
        };
        let (media_type, plain) = within(ErrorResponses::code_and_message());
        assert_eq!(media_type, "application/json");
        assert_eq!(plain, r#"{"code":429,"message":"too many requests"}"#);
        let (_, quoted) = within(ErrorResponses::code_and_message_of(|_| "\"a\\b\"\n\u{1}太多"));
        assert_eq!(quoted, "{\"code\":429,\"message\":\"\\\"a\\\\b\\\"\\u000a\\u0001太多\"}");
        let own = ErrorResponses::with(|error| ErrorBody::text(error.http_status().to_string()));
        assert_eq!(within(own), ("text/plain; charset=utf-8".to_owned(), "429".to_owned()));
        assert_eq!(within(ErrorResponses::problems()).0, "application/problem+json");
    }
}
