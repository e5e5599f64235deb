//! What is limited, and by how much: [`Rule`], its [`Algorithm`], and one [`Check`] of it.

use std::sync::Arc;
use std::time::Duration;

use once_cell::sync::OnceCell;

use crate::algo::{Plan, Resolution};
use crate::error::ConfigError;
use crate::identity::Seed;
use crate::key::Key;

/// How fast permits come back: so many per period, spread evenly over it.
///
/// ```
/// # use ratelimit_runtime::Rate;
/// # use std::time::Duration;
/// assert_eq!(Rate::per_second(5), Rate::new(5, Duration::from_secs(1)));
/// let one_in_15_s = Rate::new(1, Duration::from_secs(15));
/// assert_eq!(one_in_15_s.period(), Duration::from_secs(15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    permits: u64,
    period: Duration,
}

impl Rate {
    /// So many permits in every period. Checked where the rate is used: at least one permit, a
    /// period of 1 µs to 2^52 µs (142 years) in whole microseconds.
    pub const fn new(permits: u64, period: Duration) -> Self {
        Self { permits, period }
    }

    /// So many permits a second.
    pub const fn per_second(permits: u64) -> Self {
        Self::new(permits, Duration::from_secs(1))
    }

    /// So many permits a minute.
    pub const fn per_minute(permits: u64) -> Self {
        Self::new(permits, Duration::from_mins(1))
    }

    /// So many permits an hour.
    pub const fn per_hour(permits: u64) -> Self {
        Self::new(permits, Duration::from_hours(1))
    }

    /// So many permits in 24 hours.
    pub const fn per_day(permits: u64) -> Self {
        Self::new(permits, Duration::from_hours(24))
    }

    /// How many permits come back in one period.
    pub const fn permits(self) -> u64 {
        self.permits
    }

    /// The period in which they come back.
    pub const fn period(self) -> Duration {
        self.period
    }
}

/// How a rule counts, with its numbers. The definitions are in `tests/vectors/README.md` of the
/// repository; the guide says which one to choose.
///
/// Counts are 0 to 2^53 − 1 (a limit of 0 refuses every call). Windows are 1 µs to 2^52 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Up to `capacity` at once, and `refill` in the long run. A fresh key has the full capacity.
    TokenBucket {
        /// How many permits fit into the bucket.
        capacity: u64,
        /// How fast it fills.
        refill: Rate,
    },
    /// A line of up to `capacity` that moves on at the constant rate `leak`; an admitted call
    /// learns its [`delay`](crate::Outcome::delay).
    LeakyBucket {
        /// How many permits may be in line.
        capacity: u64,
        /// How fast the line moves.
        leak: Rate,
    },
    /// `limit` in a window that opens with the first call and is forgotten when it ends.
    FixedWindow {
        /// How many permits a window has.
        limit: u64,
        /// How long a window is open.
        window: Duration,
    },
    /// Never more than `limit` in any span of `window`: every admitted call is remembered, up to
    /// 1,000,000 a key.
    SlidingLog {
        /// How many permits in any span of one window; 1,000,000 at most.
        limit: u64,
        /// The length of that span.
        window: Duration,
    },
    /// Close to the sliding log for the price of a few counters: the last `sub_windows` parts of
    /// the window in full, and the one before them in proportion.
    SlidingCounter {
        /// How many permits a window has.
        limit: u64,
        /// The length of the window.
        window: Duration,
        /// In how many parts the window is counted: 1 to 100.
        sub_windows: u32,
    },
}

impl Algorithm {
    /// The capacity or limit: the most that one call may cost.
    pub const fn limit(&self) -> u64 {
        match *self {
            Self::TokenBucket { capacity, .. } | Self::LeakyBucket { capacity, .. } => capacity,
            Self::FixedWindow { limit, .. }
            | Self::SlidingLog { limit, .. }
            | Self::SlidingCounter { limit, .. } => limit,
        }
    }
}

impl Algorithm {
    /// A number for the kind: states of two kinds are never mixed.
    const fn kind(&self) -> u8 {
        match self {
            Self::TokenBucket { .. } => 1,
            Self::LeakyBucket { .. } => 2,
            Self::FixedWindow { .. } => 3,
            Self::SlidingLog { .. } => 4,
            Self::SlidingCounter { .. } => 5,
        }
    }
}

/// What a rule does with the calls that are over its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// They are refused.
    #[default]
    Enforce,
    /// They are judged and counted, and never refused. Charged only when the rule itself and all
    /// enforced rules of the same call admit.
    Shadow,
    /// The rule is not looked at.
    Off,
}

/// What a rule does when no store answers in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnError {
    /// An embedded store decides with this instance's share of the limit.
    #[default]
    Local,
    /// The call is admitted.
    Open,
    /// The call is [`Unavailable`](crate::RateLimitError::Unavailable).
    Closed,
}

/// Where a rule's name comes from.
#[derive(Clone, Debug)]
enum Name {
    Given(RuleName),
    /// Made from the path of the annotated function at first use: the path is not known before.
    Default {
        path: fn() -> &'static str,
        suffix: &'static str,
        made: OnceCell<RuleName>,
    },
}

/// The name of a rule, cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum RuleName {
    Static(&'static str),
    Shared(Arc<str>),
}

impl std::ops::Deref for RuleName {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Static(name) => name,
            Self::Shared(name) => name,
        }
    }
}

/// A named budget per key: an algorithm with its numbers, and what to do on refusal and on error.
///
/// The attribute writes one as a `static`. Rules can be made by hand as well:
///
/// ```
/// # use ratelimit_runtime::{Algorithm, Rate, Rule};
/// static LOGIN: Rule =
///     Rule::new("login", Algorithm::TokenBucket { capacity: 5, refill: Rate::per_minute(1) });
/// ```
///
/// Two rules with one name share their budgets. The numbers are checked when the rule is used:
/// a check of a rule with impossible numbers is a [`Mistake`](crate::Mistake).
#[derive(Clone, Debug)]
pub struct Rule {
    name: Name,
    algorithm: Algorithm,
    /// The algorithm compiled for both resolutions, at compile time where the rule is a `static`.
    micros: Result<Plan, ConfigError>,
    nanos: Result<Plan, ConfigError>,
    mode: Mode,
    on_error: Option<OnError>,
    /// For the embedded store; made at first use, as it is random.
    seed: OnceCell<Seed>,
}

impl Rule {
    /// A rule with a name that is known at compile time.
    pub const fn new(name: &'static str, algorithm: Algorithm) -> Self {
        Self::with_name(Name::Given(RuleName::Static(name)), algorithm)
    }

    /// A rule with a name that is made at run time.
    pub fn named(name: impl Into<Arc<str>>, algorithm: Algorithm) -> Self {
        Self::with_name(Name::Given(RuleName::Shared(name.into())), algorithm)
    }

    /// A rule that is called after the function it stands on.
    #[doc(hidden)]
    pub const fn __unnamed(
        path: fn() -> &'static str,
        suffix: &'static str,
        algorithm: Algorithm,
    ) -> Self {
        Self::with_name(Name::Default { path, suffix, made: OnceCell::new() }, algorithm)
    }

    const fn with_name(name: Name, algorithm: Algorithm) -> Self {
        Self {
            name,
            algorithm,
            micros: Plan::new(algorithm, Resolution::Micros),
            nanos: Plan::new(algorithm, Resolution::Nanos),
            mode: Mode::Enforce,
            on_error: None,
            seed: OnceCell::new(),
        }
    }

    /// The same rule in another mode.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The same rule with its own answer to a store that fails; else the limiter's counts.
    #[must_use]
    pub const fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = Some(on_error);
        self
    }

    /// The rule's name.
    pub fn name(&self) -> &str {
        self.shared_name()
    }

    pub(crate) fn shared_name(&self) -> &RuleName {
        match &self.name {
            Name::Given(name) => name,
            Name::Default { path, suffix, made } => made.get_or_init(|| {
                RuleName::Shared([function_name(path()).as_str(), suffix].concat().into())
            }),
        }
    }

    /// What the ids of the rule's keys are made with.
    pub(crate) fn seed(&self) -> Seed {
        *self.seed.get_or_init(|| Seed::new(self.name(), self.algorithm.kind()))
    }

    /// Whether the name was written by a person, and so may be shown to clients.
    pub const fn has_written_name(&self) -> bool {
        !matches!(self.name, Name::Default { .. })
    }

    /// How the rule counts.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// What the rule does with the calls that are over its limit.
    pub const fn current_mode(&self) -> Mode {
        self.mode
    }

    /// The rule's own answer to a store that fails.
    pub const fn own_on_error(&self) -> Option<OnError> {
        self.on_error
    }
}

/// The path of a function from the type name of an item within it: without that item, closures,
/// generic arguments and the wrapper around methods of another module's type.
fn function_name(inner: &str) -> String {
    let path = inner.rsplit_once("::").map_or(inner, |(path, _)| path);
    let path = path.replace("::{{closure}}", "").replace("<impl ", "<");
    let mut name = String::with_capacity(path.len());
    // `<Type as Trait>` stands at the front or behind `::`; everything else in `<>` is generic.
    let (mut generic, mut self_type) = (0_usize, false);
    for c in path.chars() {
        match c {
            '<' if generic == 0 && !self_type && (name.is_empty() || name.ends_with("::")) => {
                self_type = true;
            }
            '<' => generic += 1,
            '>' if generic > 0 => generic -= 1,
            '>' if self_type => self_type = false,
            _ if generic > 0 => {}
            _ => name.push(c),
        }
    }
    name
}

/// One rule, one key, one cost: what a store decides.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    rule: &'a Rule,
    key: Key,
    cost: u64,
    numbers: Option<Algorithm>,
    max_delay: Option<Duration>,
    /// Whether it never refuses, whatever its rule says.
    only_watched: bool,
}

impl<'a> Check<'a> {
    /// A check that takes one permit.
    ///
    /// ```
    /// # use ratelimit_runtime::{Algorithm, Check, Rate, Rule};
    /// # static LOGIN: Rule =
    /// #     Rule::new("login", Algorithm::TokenBucket { capacity: 5, refill: Rate::per_minute(1) });
    /// let check = Check::new(&LOGIN, "alice").cost(2);
    /// assert_eq!(check.key().as_str(), "alice");
    /// ```
    pub fn new(rule: &'a Rule, key: impl Into<Key>) -> Self {
        Self { rule, key: key.into(), cost: 1, numbers: None, max_delay: None, only_watched: false }
    }

    /// The same check taking so many permits; 0 takes none and is always admitted.
    #[must_use]
    pub fn cost(mut self, cost: u64) -> Self {
        self.cost = cost;
        self
    }

    /// The same check with numbers of its own instead of the rule's: the same algorithm with
    /// another limit, rate or window. They apply at once, and what is used stays used.
    #[must_use]
    pub fn numbers(mut self, numbers: Algorithm) -> Self {
        self.numbers = Some(numbers);
        self
    }

    /// The same check, refused if a leaky bucket's delay would be longer than this. Whole
    /// milliseconds count.
    #[must_use]
    pub fn max_delay(mut self, max_delay: Duration) -> Self {
        self.max_delay = Some(max_delay);
        self
    }

    /// The rule that is checked.
    pub const fn rule(&self) -> &'a Rule {
        self.rule
    }

    /// Whose budget it is.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// How many permits the call takes.
    pub const fn permits(&self) -> u64 {
        self.cost
    }

    /// The numbers in force.
    pub fn algorithm(&self) -> Algorithm {
        self.numbers.unwrap_or(self.rule.algorithm)
    }

    /// Whether the check is judged but never refuses.
    pub fn is_shadow(&self) -> bool {
        self.only_watched || self.rule.mode == Mode::Shadow
    }

    /// The numbers in force, compiled for a store's resolution.
    pub fn plan(&self, resolution: Resolution) -> Result<Plan, ConfigError> {
        let plan = match (self.numbers, resolution) {
            (Some(numbers), _) => Plan::new(numbers, resolution),
            (None, Resolution::Micros) => self.rule.micros,
            (None, Resolution::Nanos) => self.rule.nanos,
        }?;
        Ok(match (plan, self.max_delay) {
            (Plan::LeakyBucket(bucket), Some(delay)) => {
                let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                Plan::LeakyBucket(bucket.within_ms(ms))
            }
            (plan, _) => plan,
        })
    }

    /// The same check, which never refuses whatever its rule says.
    pub(crate) fn only_watched(&self) -> Self {
        Self { only_watched: true, ..self.clone() }
    }

    /// The same check with another cost, for a look that takes nothing.
    pub(crate) fn with_cost(&self, cost: u64) -> Self {
        self.clone().cost(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_paths() {
        for (inner, name) in [
            ("app::send::f", "app::send"),
            ("app::send::{{closure}}::f", "app::send"),
            ("app::Type<_>::send::f", "app::Type::send"),
            ("<app::Type<u8> as app::Trait<app::X>>::send::f", "app::Type as app::Trait::send"),
            ("app::a::b::<impl app::Type<u8>>::send::f", "app::a::b::app::Type::send"),
        ] {
            assert_eq!(function_name(inner), name);
        }
    }
}
