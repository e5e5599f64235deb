//! [`RateLimitError`]: why the body of a limited function did not run.

use std::time::Duration;

use super::{Decision, Outcome};
use crate::error::{InvalidCall, StoreError};

/// Why the body of a limited function did not run.
///
/// Three different things, never mixed up: the budget is used up; no store answered; the call
/// itself is wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// The budget is used up. Over HTTP: 429.
    #[error(transparent)]
    Limited(#[from] Limited),
    /// No store answered, and the rule is closed then. Over HTTP: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The call or the configuration is wrong. Over HTTP: 400 or 500, see
    /// [`InvalidCall::is_client_error`].
    #[error(transparent)]
    Invalid(#[from] InvalidCall),
}

impl RateLimitError {
    /// How long to wait before the same call is admitted if nothing else happens. `None` when
    /// waiting does not help, or when it is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(refusal) => refusal.retry_after(),
            Self::Unavailable(_) | Self::Invalid(_) => None,
        }
    }

    /// The HTTP status that says this: 429, 503, 400 or 500.
    pub fn http_status(&self) -> u16 {
        match self {
            Self::Limited(_) => 429,
            Self::Unavailable(_) => 503,
            Self::Invalid(mistake) if mistake.is_client_error() => 400,
            Self::Invalid(_) => 500,
        }
    }
}

/// A budget that is used up: the decision, and the outcome that decides how long to wait.
#[derive(Clone, Debug)]
pub struct Limited {
    decision: Box<Decision>,
}

impl Limited {
    pub(crate) fn new(decision: Decision) -> Self {
        Self { decision: Box::new(decision) }
    }

    /// The whole decision, with the outcomes of the rules that would have let the call pass.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The outcome of the rule that refused; of several, the one with the longest wait.
    pub fn outcome(&self) -> Option<&Outcome> {
        let refused =
            self.decision.outcomes().iter().filter(|o| !o.is_admitted() && !o.is_shadow());
        // No wait will do when there is no time to retry, so that is the longest.
        refused.max_by_key(|o| (o.retry_after().is_none(), o.retry_after()))
    }

    /// The name of that rule.
    pub fn rule(&self) -> &str {
        self.outcome().map_or("", Outcome::rule)
    }

    /// The capacity or limit of that rule.
    pub fn limit(&self) -> u64 {
        self.outcome().map_or(0, Outcome::limit)
    }

    /// The largest cost that this rule would still admit.
    pub fn remaining(&self) -> u64 {
        self.outcome().map_or(0, Outcome::remaining)
    }

    /// How long to wait before the same call is admitted if nothing else happens, in whole
    /// milliseconds. `None`: no wait will do.
    pub fn retry_after(&self) -> Option<Duration> {
        self.outcome().and_then(Outcome::retry_after)
    }
}

impl std::fmt::Display for Limited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = self.rule();
        match self.retry_after() {
            Some(wait) => write!(f, "rate limit `{rule}` exceeded, retry in {wait:?}"),
            None => write!(f, "rate limit `{rule}` admits no call of this cost"),
        }
    }
}

impl std::error::Error for Limited {}

/// No store answered, and a rule of the call is [`closed`](crate::OnError::Closed) then.
#[derive(Clone, Debug, thiserror::Error)]
#[error("rate limit `{rule}` cannot be decided: {cause}")]
pub struct Unavailable {
    pub(crate) rule: String,
    #[source]
    pub(crate) cause: StoreError,
}

impl Unavailable {
    /// The name of the rule that is closed.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Why there was no answer.
    pub fn cause(&self) -> &StoreError {
        &self.cause
    }
}
