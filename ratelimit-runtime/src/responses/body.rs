//! [`ErrorBody`]: what of a response can be chosen.

use std::fmt::Write as _;

use crate::decision::RateLimitError;

/// The answer to a call that is not admitted, as far as it can be chosen: the body, and if need be the status and
/// further header fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorBody {
    pub(crate) media_type: &'static str,
    pub(crate) text: String,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
}

impl ErrorBody {
    /// A text of this media type, for `Content-Type`.
    pub fn new(media_type: &'static str, text: impl Into<String>) -> Self {
        Self { media_type, text: text.into(), status: None, headers: Vec::new() }
    }

    /// JSON. For what stands in it there is [`json_string`](Self::json_string).
    pub fn json(text: impl Into<String>) -> Self {
        Self::new("application/json", text)
    }

    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", text)
    }

    /// `{"code": 429, "message": ".."}`.
    pub fn code_and_message(error: &RateLimitError, message: impl AsRef<str>) -> Self {
        let (code, message) = (error.http_status(), Self::json_string(message));
        Self::json(format!(r#"{{"code":{code},"message":{message}}}"#))
    }

    /// The same body with this status, from 200 to 599, instead of the [error's own](RateLimitError::http_status); what
    /// is none of these changes nothing. Header fields stay as they are, `Cache-Control: no-store` too.
    ///
    /// ```
    /// # use ratelimit_runtime::{ErrorBody, ErrorResponses};
    /// // A front end that reads the code in the body, and takes every other status for a broken line.
    /// let answers = ErrorResponses::from_fn(|error| {
    ///     ErrorBody::code_and_message(error, "too many requests").with_status(200)
    /// });
    /// ```
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same body with a header field beside it, or in place of one that is there anyway, such as
    /// `Retry-After`. What is no name or no value of a header is left out, and logged.
    ///
    /// ```
    /// # use ratelimit_runtime::{ErrorBody, ErrorResponses};
    /// let answers = ErrorResponses::from_fn(|error| match error.http_status() {
    ///     503 => ErrorBody::problem(error).with_header("retry-after", "5"),
    ///     _ => ErrorBody::problem(error).with_header("x-limited-by", "shop"),
    /// });
    /// ```
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The media type.
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A text as a string of JSON, in quotes.
    ///
    /// ```
    /// # use ratelimit_runtime::ErrorBody;
    /// let body = format!(r#"{{"error":{}}}"#, ErrorBody::json_string("so \"often\""));
    /// assert_eq!(body, r#"{"error":"so \"often\""}"#);
    /// ```
    pub fn json_string(text: impl AsRef<str>) -> String {
        json_string(text.as_ref())
    }
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
