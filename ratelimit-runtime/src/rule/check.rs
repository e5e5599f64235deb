//! What a store decides.

use std::sync::Arc;
use std::time::Duration;

use super::{Algorithm, Mode, OnError, Plan, Rule};
use crate::algo::Resolution;
use crate::error::ConfigError;
use crate::identity::Seed;
use crate::key::LimitKey;

/// One rule, one key, one cost: what a store decides.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    rule: &'a Rule,
    key: LimitKey,
    cost: u64,
    numbers: Option<Algorithm>,
    max_delay: Option<Duration>,
    group: Option<Arc<LimitKey>>,
    /// Whether it never refuses, whatever its rule says.
    as_shadow: bool,
    /// Whether the service on its rule is the limiter's, and so says nothing.
    is_at_home: bool,
}

impl<'a> Check<'a> {
    /// A check that takes one permit.
    ///
    /// ```
    /// # use ratelimit_runtime::{Algorithm, Check, Rate, Rule};
    /// # static LOGIN: Rule =
    /// #     Rule::new("login", Algorithm::TokenBucket { capacity: 5, refill: Rate::per_minute(1) });
    /// let check = Check::new(&LOGIN, "alice").with_cost(2);
    /// assert_eq!(check.key().as_str(), "alice");
    /// ```
    #[inline]
    pub fn new(rule: &'a Rule, key: impl Into<LimitKey>) -> Self {
        Self {
            rule,
            key: key.into(),
            cost: 1,
            numbers: None,
            max_delay: None,
            group: None,
            as_shadow: false,
            is_at_home: false,
        }
    }

    /// The same check taking so many permits; 0 takes none and is always admitted.
    #[must_use]
    pub fn with_cost(mut self, cost: u64) -> Self {
        self.cost = cost;
        self
    }

    /// The same check with numbers of its own instead of the rule's: the same algorithm with
    /// another limit, rate or window. They apply at once, and what is used stays used.
    #[must_use]
    pub fn with_algorithm(mut self, numbers: Algorithm) -> Self {
        self.numbers = Some(numbers);
        self
    }

    /// The same check, refused if a leaky bucket's delay would be longer than this. Whole
    /// milliseconds count.
    #[must_use]
    pub fn with_max_delay(mut self, max_delay: Duration) -> Self {
        self.max_delay = Some(max_delay);
        self
    }

    /// The same check in a group: on a Redis Cluster, all checks of one group lie in one slot, so that
    /// one script decides those of a call. The group is a part of whose budget it is there; other
    /// stores keep the checks of a call together anyway, and take no notice.
    #[must_use]
    pub fn with_group(self, group: impl Into<LimitKey>) -> Self {
        self.in_group(Arc::new(group.into()))
    }

    /// For several checks of one group.
    pub(crate) fn in_group(mut self, group: Arc<LimitKey>) -> Self {
        self.group = Some(group);
        self
    }

    /// What puts it into a slot with other checks.
    pub fn group(&self) -> Option<&LimitKey> {
        self.group.as_deref()
    }

    /// The rule that is checked.
    pub const fn rule(&self) -> &'a Rule {
        self.rule
    }

    /// Whose budget it is.
    pub const fn key(&self) -> &LimitKey {
        &self.key
    }

    /// The longest delay with which a leaky bucket admits it, if that is set.
    pub const fn max_delay(&self) -> Option<Duration> {
        self.max_delay
    }

    /// How many permits the call takes.
    pub const fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether they are those of the call, and not the rule's.
    #[cfg(feature = "tower")]
    pub(crate) const fn has_own_numbers(&self) -> bool {
        self.numbers.is_some()
    }

    /// The numbers in force.
    pub fn algorithm(&self) -> Algorithm {
        self.numbers.unwrap_or(self.rule.algorithm)
    }

    /// Whether the check is judged but never refuses.
    pub fn is_shadow(&self) -> bool {
        self.as_shadow || self.rule.mode == Mode::Shadow
    }

    /// Whether the call may go on as far as this check is concerned, which admits it or does not: only what is
    /// enforced can keep it from running.
    pub(crate) fn lets_pass(&self, admits: bool) -> bool {
        admits || self.is_shadow()
    }

    /// The numbers in force, compiled for a store's resolution.
    pub(crate) fn plan(&self, resolution: Resolution) -> Result<Plan, ConfigError> {
        let plan = match (self.numbers, resolution) {
            (Some(numbers), _) => Plan::new(numbers, resolution),
            (None, Resolution::Micros) => self.rule.micros,
            (None, Resolution::Nanos) => self.rule.nanos,
        };
        let plan = plan.map_err(|number| self.rule.invalid(number))?;
        Ok(match (plan, self.max_delay) {
            (Plan::LeakyBucket(bucket), Some(delay)) => {
                let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                Plan::LeakyBucket(bucket.within_ms(ms))
            }
            (plan, _) => plan,
        })
    }

    /// The service whose budgets it uses, if that is another one than the limiter's.
    fn other_service(&self) -> Option<&'static str> {
        self.rule.service().filter(|_| !self.is_at_home)
    }

    /// Whether the service on its rule is the one that the limiter is set up for: that is the same budget as
    /// without it.
    pub(crate) fn names(&self, service: &str) -> bool {
        self.other_service() == Some(service)
    }

    /// The same check for a limiter whose service is the one on the rule.
    pub(crate) fn at_home(&self) -> Self {
        Self { is_at_home: true, ..self.clone() }
    }

    /// What the ids of its rule's keys are made with.
    pub(crate) fn seed(&self) -> Seed {
        if self.is_at_home { self.rule.seed_at_home() } else { self.rule.seed() }
    }

    /// Whether both are about the same key of the same rule, so that they are one state in a store. In some
    /// stores those of two groups are two.
    pub(crate) fn is_same_budget(&self, other: &Self, separates_groups: bool) -> bool {
        self.key == other.key
            && self.rule.name() == other.rule.name()
            && self.other_service() == other.other_service()
            && (!separates_groups || self.group == other.group)
            && self.rule.algorithm.is_like(&other.rule.algorithm)
    }

    /// One check for two of the [same budget](Self::is_same_budget): it takes what both take, but no more than
    /// there ever is, and is as strict as the stricter of them in each number. Each makes sense alone. One that
    /// is a shadow adds nothing to one that is enforced.
    pub(crate) fn joined(&self, other: &Self, default: OnError) -> Self {
        match (self.is_shadow(), other.is_shadow()) {
            (false, true) => return self.clone(),
            (true, false) => return other.clone(),
            _ => {}
        }
        let strictness = |check: &Self| match check.rule.on_error().unwrap_or(default) {
            OnError::Open => 0,
            OnError::Local => 1,
            OnError::Closed => 2,
        };
        let rule = if strictness(other) > strictness(self) { other.rule } else { self.rule };
        let (numbers, max_delay) = match (self.cost, other.cost) {
            // What takes nothing is admitted whatever its numbers are.
            (1.., 0) => (self.algorithm(), self.max_delay),
            (0, 1..) => (other.algorithm(), other.max_delay),
            _ => {
                let delays = [self.max_delay, other.max_delay];
                (self.algorithm().stricter(other.algorithm()), delays.into_iter().flatten().min())
            }
        };
        let cost = self.cost.saturating_add(other.cost);
        // A limit of 0 refuses, and a cost of 0 would be admitted.
        let cost = if numbers.limit() == 0 { cost } else { cost.min(numbers.limit()) };
        Self {
            rule,
            cost,
            numbers: (numbers != rule.algorithm).then_some(numbers),
            max_delay,
            as_shadow: self.is_shadow(),
            // The service on the one rule may be that of the limiter, and on the other there is none.
            is_at_home: self.is_at_home || other.is_at_home,
            ..self.clone()
        }
    }

    /// A copy that borrows nothing: `rule` is its own.
    #[cfg(feature = "tower")]
    pub(crate) fn shared(&self, rule: &Arc<Rule>) -> SharedCheck {
        SharedCheck {
            rule: rule.clone(),
            key: self.key.clone(),
            cost: self.cost,
            numbers: self.numbers,
            max_delay: self.max_delay,
            as_shadow: self.as_shadow,
        }
    }

    /// The same check, which never refuses whatever its rule says.
    pub(crate) fn as_shadow(&self) -> Self {
        Self { as_shadow: true, ..self.clone() }
    }
}

/// What a [`Check`] of a layer's rule is made of.
#[cfg(feature = "tower")]
#[derive(Debug)]
pub(crate) struct SharedCheck {
    rule: Arc<Rule>,
    key: LimitKey,
    cost: u64,
    numbers: Option<Algorithm>,
    max_delay: Option<Duration>,
    as_shadow: bool,
}

#[cfg(feature = "tower")]
impl SharedCheck {
    pub(crate) fn check(&self) -> Check<'_> {
        Check {
            cost: self.cost,
            numbers: self.numbers,
            max_delay: self.max_delay,
            as_shadow: self.as_shadow,
            ..Check::new(&self.rule, self.key.clone())
        }
    }
}
