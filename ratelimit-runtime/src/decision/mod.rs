//! What the limiter answers: a [`Decision`], or a [`RateLimitError`].

mod error;

use std::time::Duration;

use smallvec::SmallVec;

use crate::algo::{Answer, Answers};
use crate::degraded::Degraded;
use crate::error::StoreError;
use crate::rule::{Check, RuleName};

pub use self::error::{Limited, RateLimitError, Unavailable};

/// The answer to a list of checks.
#[derive(Clone, Debug)]
pub struct Decision {
    outcomes: SmallVec<[Outcome; 1]>,
    /// In a box, as it is nearly never there.
    degraded: Option<Box<(Degraded, StoreError)>>,
}

/// What one rule says about a call.
///
/// How the numbers come about is in `algo`, in one file for each algorithm; the reply of a script is read by
/// the same code.
#[derive(Clone, Debug)]
pub struct Outcome {
    rule: RuleName,
    admitted: bool,
    limit: u64,
    remaining: u64,
    retry_after: Option<Duration>,
    reset_after: Duration,
    delay: Duration,
    is_shadow: bool,
}

impl Outcome {
    /// The rule's name.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Whether this rule alone lets the call pass.
    pub const fn is_admitted(&self) -> bool {
        self.admitted
    }

    /// The capacity or limit in force.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The largest cost that would be admitted right now.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Zero if admitted; else how long to wait before the same call is admitted if nothing else
    /// happens, in whole milliseconds. `None`: no wait will do.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// After how long the budget is back in its initial state, in whole milliseconds.
    pub const fn reset_after(&self) -> Duration {
        self.reset_after
    }

    /// Leaky bucket: how long to wait until all that is in front has leaked, in whole milliseconds.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Whether the rule is in [shadow mode](crate::Mode::Shadow), and so never refuses.
    pub const fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    #[inline]
    fn new(check: &Check<'_>, answer: Answer) -> Self {
        Self {
            rule: check.rule().shared_name().clone(),
            admitted: answer.admitted,
            limit: answer.limit,
            remaining: answer.remaining,
            retry_after: answer.retry_after_ms.map(Duration::from_millis),
            reset_after: Duration::from_millis(answer.reset_after_ms),
            delay: Duration::from_millis(answer.delay_ms),
            is_shadow: check.is_shadow(),
        }
    }
}

/// Whether answers let the call go on: no enforced rule refuses it.
#[inline]
pub(crate) fn admits(checks: &[Check<'_>], answers: &Answers) -> bool {
    checks.iter().zip(answers).all(|(check, answer)| check.lets_pass(answer.admitted))
}

/// How long to wait before the work: the longest delay of the enforced leaky buckets.
#[inline]
pub(crate) fn delay(checks: &[Check<'_>], answers: &Answers) -> Duration {
    let enforced = checks.iter().zip(answers).filter(|(check, _)| !check.is_shadow());
    Duration::from_millis(enforced.map(|(_, answer)| answer.delay_ms).max().unwrap_or_default())
}

impl Decision {
    /// The decision that a store's answers are.
    pub(crate) fn new(checks: &[Check<'_>], answers: &Answers) -> Self {
        let outcomes = checks.iter().zip(answers);
        let outcomes = outcomes.map(|(check, answer)| Outcome::new(check, *answer)).collect();
        Self { outcomes, degraded: None }
    }

    /// The decision when nobody was asked.
    pub(crate) fn unasked() -> Self {
        Self { outcomes: SmallVec::new(), degraded: None }
    }

    /// The same decision, made without the store.
    pub(crate) fn without_store(self, degraded: Degraded, cause: StoreError) -> Self {
        Self { degraded: Some(Box::new((degraded, cause))), ..self }
    }

    /// Whether the call may go on: no enforced rule refuses it.
    pub fn is_admitted(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.admitted || outcome.is_shadow)
    }

    /// What each rule says, in the order of the checks. Empty when nobody was asked.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Set when the limiter's store did not answer.
    pub fn degraded(&self) -> Option<Degraded> {
        self.degraded.as_ref().map(|degraded| degraded.0)
    }

    /// Why the store did not answer, if it did not.
    pub fn cause(&self) -> Option<&StoreError> {
        self.degraded.as_ref().map(|degraded| &degraded.1)
    }

    /// How long to wait before the work: the longest delay of the enforced leaky buckets.
    pub fn delay(&self) -> Duration {
        self.outcomes.iter().filter(|o| !o.is_shadow).map(|o| o.delay).max().unwrap_or_default()
    }
}
