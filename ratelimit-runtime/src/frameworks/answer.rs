//! The HTTP answer to a call that was not admitted, in no framework's types.

use std::time::Duration;

use crate::error::{Mistake, RateLimitError};

/// The media type of [`HttpAnswer::body`].
pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// A problem document (RFC 9457). It names no rule, no key and no server: those are nobody's
/// business outside.
pub(super) struct HttpAnswer {
    #[cfg(feature = "axum")]
    pub(super) status: u16,
    /// For `Retry-After`: whole seconds, rounded up and at least 1, so that a client that waits as
    /// told is not too early.
    pub(super) retry_after: Option<u64>,
    pub(super) body: String,
}

impl HttpAnswer {
    pub(super) fn to(error: &RateLimitError) -> Self {
        let status = error.http_status();
        let retry_after = error.retry_after().map(whole_seconds);
        let (title, detail) = match (error, retry_after) {
            (RateLimitError::Refused(_), Some(seconds)) => {
                ("Too Many Requests", format!("retry in {seconds} s"))
            }
            (RateLimitError::Refused(_), None) => {
                ("Too Many Requests", "no such request is admitted".to_owned())
            }
            (RateLimitError::Unavailable(_), _) => {
                ("Service Unavailable", "the rate limit cannot be decided".to_owned())
            }
            (RateLimitError::Mistake(mistake), _) if mistake.is_callers() => {
                let detail = match mistake {
                    Mistake::EmptyKey { .. } => "what the request is limited by is empty",
                    Mistake::CostExceedsCapacity { .. } => "the request is larger than the limit",
                    _ => "the request cannot be rate limited",
                };
                ("Bad Request", detail.to_owned())
            }
            (RateLimitError::Mistake(_), _) => {
                ("Internal Server Error", "the rate limit is not set up".to_owned())
            }
        };
        // None of these texts has a character that JSON would escape.
        let body = format!(
            r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}"}}"#
        );
        Self {
            #[cfg(feature = "axum")]
            status,
            retry_after,
            body,
        }
    }
}

fn whole_seconds(wait: Duration) -> u64 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ManualClock};
    use crate::error::ConfigError;
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Check, Rule};

    /// The answer to the second call in a window, so long before its end.
    fn refused(left: Duration) -> HttpAnswer {
        let window = Duration::from_secs(10);
        let rule = Rule::new("r", Algorithm::FixedWindow { limit: 1, window });
        let clock = ManualClock::new();
        let limiter = Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap();
        limiter.check_blocking(&Check::new(&rule, "k")).unwrap();
        clock.advance(window.checked_sub(left).unwrap());
        let error = limiter.check_blocking(&Check::new(&rule, "k")).unwrap_err();
        assert_eq!(error.retry_after(), Some(left));
        HttpAnswer::to(&error)
    }

    #[test]
    fn b083_retry_after_is_rounded_up_and_never_zero() {
        for (ms, seconds) in [(9_001, 10), (1_001, 2), (1_000, 1), (999, 1), (1, 1)] {
            let answer = refused(Duration::from_millis(ms));
            assert_eq!((answer.status, answer.retry_after), (429, Some(seconds)), "{ms}");
        }
    }

    #[test]
    fn the_body_is_a_problem_document() {
        let body = refused(Duration::from_secs(2)).body;
        let written = r#"{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"retry in 2 s"}"#;
        assert_eq!(body, written);
    }

    #[test]
    fn mistakes_have_no_wait() {
        let callers = Mistake::EmptyKey { rule: "secret".into() };
        let ours = Mistake::Config(ConfigError::AlreadyInstalled);
        for (mistake, status) in [(callers, 400), (ours, 500)] {
            let answer = HttpAnswer::to(&mistake.into());
            assert_eq!((answer.status, answer.retry_after), (status, None));
            assert!(!answer.body.contains("secret"));
        }
    }
}
