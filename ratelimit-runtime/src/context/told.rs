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
    /// Until the call is admitted, if it was not; else until all is there again. `None`: no wait
    /// will do.
    wait: Option<Duration>,
}

impl Told {
    pub(super) fn new(check: &Check<'_>, outcome: &Outcome) -> Self {
        let rule = check.rule();
        let name = rule.has_written_name().then(|| rule.shared_name().clone());
        let wait = if outcome.allowed { Some(outcome.reset_after) } else { outcome.retry_after };
        Self {
            name,
            algorithm: check.algorithm(),
            limit: outcome.limit,
            remaining: outcome.remaining,
            allowed: outcome.allowed,
            wait,
        }
    }

    /// What it is called outside. A name that a structured field cannot hold is as good as none.
    pub(crate) fn shown_name(&self) -> &str {
        let printable = |name: &&str| name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        self.name.as_deref().filter(printable).unwrap_or("default")
    }

    /// In how many seconds there is more, rounded up: so a client that waits is not too early.
    pub(crate) fn reset_s(&self) -> Option<u64> {
        self.wait.map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
    }

    /// The rule that stops the client first comes first; of several, the one that stops it longest.
    pub(crate) fn rank(&self) -> (bool, u64, Reverse<(bool, Option<Duration>)>) {
        (self.allowed, self.remaining, Reverse((self.wait.is_none(), self.wait)))
    }
}
