//! [`RateLimit`]: one rule and one key, for code that is not an annotated function.

use super::{Limiter, mistaken};
use crate::decision::{Decision, RateLimitError};
use crate::key::LimitKey;
use crate::rule::{Algorithm, Check, Rule};

/// One rule and one key: a handle for workers, jobs and administration, where there is no function to put an
/// attribute on.
///
/// It decides like the attribute, on the same limiter: the one that is [installed](Limiter::install), or that a
/// test has set. A rule with the name of an annotated function shares its budgets; its key is then made by
/// `key!`, in the same language. Where the two have different numbers, the first use says so and names both
/// places.
///
/// ```
/// # use std::time::Duration;
/// # use ratelimit_runtime::{Algorithm, Limiter, RateLimit, RateLimitError, Rule};
/// static LOGIN: Rule =
///     Rule::new("login", Algorithm::FixedWindow { limit: 5, window: Duration::from_mins(15) });
///
/// # fn main() -> Result<(), RateLimitError> {
/// let alice = RateLimit::new(&LOGIN, "alice");
/// let decision = alice.check_blocking()?;
/// assert_eq!(decision.outcomes()[0].remaining(), 4);
/// // To look takes nothing.
/// assert!(alice.peek_blocking()?.is_admitted());
/// // There was something to forget, and then nothing.
/// assert!(alice.reset_blocking()?);
/// assert!(!alice.reset_blocking()?);
/// # Ok(())
/// # }
/// ```
///
/// Cheap to clone, and may be kept.
#[derive(Clone, Debug)]
#[must_use = "a handle decides nothing until it is asked"]
pub struct RateLimit<'a> {
    check: Check<'a>,
    /// That of the process if there is none.
    limiter: Option<Limiter>,
}

impl<'a> RateLimit<'a> {
    /// A rule and a key, on the limiter that annotated functions use.
    pub fn new(rule: &'a Rule, key: impl Into<LimitKey>) -> Self {
        Self { check: Check::new(rule, key), limiter: None }
    }

    /// The same on another limiter.
    pub fn with_limiter(self, limiter: &Limiter) -> Self {
        Self { limiter: Some(limiter.clone()), ..self }
    }

    /// The same for calls that take `cost` permits. It is 1 unless set; 0 takes none and is always admitted.
    pub fn with_cost(self, cost: u64) -> Self {
        Self { check: self.check.with_cost(cost), ..self }
    }

    /// The same with numbers of its own instead of the rule's, see
    /// [`Check::with_algorithm`](Check::with_algorithm).
    pub fn with_algorithm(self, algorithm: Algorithm) -> Self {
        Self { check: self.check.with_algorithm(algorithm), ..self }
    }

    /// The same in a group, as the attribute's `group`: on a Redis Cluster that is a part of what is limited.
    pub fn with_group(self, group: impl Into<LimitKey>) -> Self {
        Self { check: self.check.with_group(group), ..self }
    }

    /// The rule, key and cost: for a list of several, which [`Limiter::check_all`] decides as one.
    pub const fn as_check(&self) -> &Check<'a> {
        &self.check
    }

    /// Takes the permits: `Ok` if the call may go on.
    pub async fn check(&self) -> Result<Decision, RateLimitError> {
        self.deciding()?.check(&self.check).await
    }

    /// Like [`check`](Self::check), for functions that are not async.
    pub fn check_blocking(&self) -> Result<Decision, RateLimitError> {
        self.deciding()?.check_blocking(&self.check)
    }

    /// What [`check`](Self::check) would get now. Takes nothing and is not counted. A refusal is a decision
    /// that is not [`admitted`](Decision::is_admitted), and no error.
    pub async fn peek(&self) -> Result<Decision, RateLimitError> {
        self.looking()?.peek(&self.check).await
    }

    /// Like [`peek`](Self::peek), for functions that are not async.
    pub fn peek_blocking(&self) -> Result<Decision, RateLimitError> {
        self.looking()?.peek_blocking(&self.check)
    }

    /// Forgets what is used. `true` if there was anything to forget, see [`Limiter::reset`].
    pub async fn reset(&self) -> Result<bool, RateLimitError> {
        self.looking()?.reset(&self.check).await
    }

    /// Like [`reset`](Self::reset), for functions that are not async.
    pub fn reset_blocking(&self) -> Result<bool, RateLimitError> {
        self.looking()?.reset_blocking(&self.check)
    }

    /// The limiter that decides, if the rule does not meet another one of its name by accident.
    fn deciding(&self) -> Result<Limiter, RateLimitError> {
        self.check.rule().register_made().map_err(|error| mistaken(error.into()))?;
        self.limiter()
    }

    /// The same for who looks or forgets: a look of an operator's must not turn a function with other numbers into
    /// an error.
    fn looking(&self) -> Result<Limiter, RateLimitError> {
        self.check.rule().compare_made().map_err(|error| mistaken(error.into()))?;
        self.limiter()
    }

    fn limiter(&self) -> Result<Limiter, RateLimitError> {
        match &self.limiter {
            Some(limiter) => Ok(limiter.clone()),
            None => match Limiter::of_scope() {
                Some(limiter) => Ok(limiter),
                None => Limiter::installed_for_call().cloned(),
            },
        }
    }
}
