//! What the limiter answers.

use std::time::Duration;

use smallvec::SmallVec;

use crate::algo::Answer;
use crate::rule::{Check, RuleName};
use crate::store::Answers;

/// The answer to a list of checks.
#[derive(Clone, Debug)]
pub struct Decision {
    outcomes: SmallVec<[Outcome; 1]>,
    degraded: Option<Degraded>,
}

/// Why a decision was not made by the limiter's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Degraded {
    /// The embedded store decided, with this instance's share of the limits.
    Local,
    /// Nobody decided, and the call was admitted.
    Open,
}

/// What one rule says about a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    rule: RuleName,
    /// Whether this rule alone lets the call pass.
    pub allowed: bool,
    /// The capacity or limit in force.
    pub limit: u64,
    /// The largest cost that would be admitted right now.
    pub remaining: u64,
    /// Zero if allowed; else how long to wait before the same call is admitted if nothing else
    /// happens, in whole milliseconds. `None`: no wait will do.
    pub retry_after: Option<Duration>,
    /// After how long the key is as good as new, in whole milliseconds.
    pub reset_after: Duration,
    /// Leaky bucket: how long to wait until all that is in front has leaked.
    pub delay: Duration,
    /// Whether the rule only watches.
    pub shadow: bool,
}

impl Outcome {
    /// The rule's name.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    #[inline]
    fn new(check: &Check<'_>, answer: Answer) -> Self {
        Self {
            rule: check.rule().shared_name().clone(),
            allowed: answer.allowed,
            limit: answer.limit,
            remaining: answer.remaining,
            retry_after: answer.retry_after_ms.map(Duration::from_millis),
            reset_after: Duration::from_millis(answer.reset_after_ms),
            delay: Duration::from_millis(answer.delay_ms),
            shadow: check.is_shadow(),
        }
    }
}

impl Decision {
    /// The decision that a store's answers are.
    pub(crate) fn new(checks: &[Check<'_>], answers: Answers, degraded: Option<Degraded>) -> Self {
        let mut outcomes = SmallVec::new();
        for (check, answer) in checks.iter().zip(answers) {
            outcomes.push(Outcome::new(check, answer));
        }
        Self { outcomes, degraded }
    }

    /// The decision when nobody was asked.
    pub(crate) fn unasked(degraded: Option<Degraded>) -> Self {
        Self { outcomes: SmallVec::new(), degraded }
    }

    /// Whether the call may go on: no enforced rule refuses it.
    pub fn allowed(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.allowed || outcome.shadow)
    }

    /// What each rule says, in the order of the checks. Empty when nobody was asked.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Set when the limiter's store did not answer.
    pub fn degraded(&self) -> Option<Degraded> {
        self.degraded
    }

    /// How long to wait before the work: the longest delay of the enforced leaky buckets.
    pub fn delay(&self) -> Duration {
        self.outcomes.iter().filter(|o| !o.shadow).map(|o| o.delay).max().unwrap_or_default()
    }
}
