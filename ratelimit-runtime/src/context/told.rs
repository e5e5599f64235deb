//! What clients may be told of the decisions that were made for a request.

use std::cmp::Reverse;
use std::time::Duration;

use crate::decision::Outcome;
use crate::rule::{Algorithm, Check, RuleName};

/// What one rule said.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Only if a person wrote it.
    name: Option<RuleName>,
    pub(crate) algorithm: Algorithm,
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    allowed: bool,
    /// Until the call is admitted, if it was not; else until all is there again.
    wait: Duration,
}

impl Told {
    pub(super) fn new(check: &Check<'_>, outcome: &Outcome) -> Self {
        let rule = check.rule();
        let name = rule.has_written_name().then(|| rule.shared_name().clone());
        let wait = outcome.retry_after.filter(|_| !outcome.allowed);
        Self {
            name,
            algorithm: check.algorithm(),
            limit: outcome.limit,
            remaining: outcome.remaining,
            allowed: outcome.allowed,
            wait: wait.unwrap_or(outcome.reset_after),
        }
    }

    /// What it is called outside.
    pub(crate) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or("default")
    }

    /// In how many seconds there is more, rounded up: so a client that waits is not too early.
    pub(crate) fn reset_s(&self) -> u64 {
        self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0)
    }

    /// The rule that stops the client first comes first.
    pub(crate) fn rank(&self) -> (bool, u64, Reverse<Duration>) {
        (self.allowed, self.remaining, Reverse(self.wait))
    }
}
