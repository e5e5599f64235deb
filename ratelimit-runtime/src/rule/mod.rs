//! What is limited, and by how much: [`Rule`], its [`Algorithm`], and one [`Check`] of it.

mod algorithm;
mod check;
#[cfg(feature = "tower")]
mod header_item;
mod marks;
mod name;
mod plan;
mod registry;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use once_cell::sync::OnceCell;

use crate::algo::Resolution;
use crate::error::{ConfigError, InvalidCall, InvalidNumber};
use crate::identity::Seed;
#[cfg(feature = "redis")]
use crate::key::LimitKey;
use crate::name::bounded;
use crate::spacing::OnceAMinute;
use crate::telemetry::{Named, Names, Series};

pub use self::algorithm::{Algorithm, PER_CALL, PER_CALL_RATE, PER_CALL_WINDOW, Rate};
pub use self::check::Check;
#[cfg(feature = "tower")]
pub(crate) use self::check::SharedCheck;
#[cfg(feature = "tower")]
pub(crate) use self::header_item::{HeaderItem, MAX_INTEGER};
use self::marks::Marks;
pub(crate) use self::name::RuleName;
use self::name::function_name;
pub use self::plan::Plan;
pub(crate) use self::plan::with_algorithm;

/// How many mistakes of rules are logged at any pace; after those, one a minute.
const MAX_LINES: usize = 1_000;

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
/// a check of a rule with impossible numbers is a [`InvalidCall`](crate::InvalidCall).
#[derive(Clone)]
pub struct Rule {
    name: Name,
    algorithm: Algorithm,
    /// The algorithm compiled for both resolutions, at compile time where the rule is a `static`.
    micros: Result<Plan, InvalidNumber>,
    nanos: Result<Plan, InvalidNumber>,
    mode: Mode,
    on_error: Option<OnError>,
    service: Option<&'static str>,
    hides_headers: bool,
    /// For the embedded store; made at first use, as it is random.
    seed: OnceCell<Seed>,
    /// Where it is written.
    location: &'static Location<'static>,
    registered: OnceCell<Result<(), ConfigError>>,
    /// The mistakes that the log has.
    logged: Marks,
    /// Under which name it is counted and logged.
    named: OnceCell<Arc<Named>>,
    /// The name as it stands in Redis keys; made at first use.
    #[cfg(feature = "redis")]
    escaped_name: OnceCell<Arc<str>>,
    /// What rate-limit headers say of it on every call; made at the first of them.
    #[cfg(feature = "tower")]
    header_item: OnceCell<Arc<HeaderItem>>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("name", &self.name())
            .field("algorithm", &self.algorithm())
            .field("mode", &self.mode)
            .field("on_error", &self.on_error)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Rule {
    /// A rule with a name that is known at compile time.
    #[track_caller]
    pub const fn new(name: &'static str, algorithm: Algorithm) -> Self {
        Self::with_name(Name::Given(RuleName::Static(name)), algorithm)
    }

    /// A rule with a name that is made at run time.
    ///
    /// A name of more than 128 bytes, or with control characters, keeps its head and ends in `%~` and 128
    /// bits of its SHA-256.
    ///
    /// Names cannot be taken out of metrics again. So as many have labels of their own as such rules are
    /// alive at a time, at least 10 and at most 1,000; all others are counted, and logged, as `other`.
    ///
    /// Whether two rules of layers have one name by accident is noticed among the first 10,000 names; a
    /// line says when there are more.
    #[track_caller]
    pub fn named(name: impl Into<Arc<str>>, algorithm: Algorithm) -> Self {
        Self::with_name(Name::Given(RuleName::Shared(bounded(name.into()))), algorithm)
    }

    /// A rule that is called after the function it stands on.
    #[track_caller]
    pub(crate) const fn unnamed(
        path: fn() -> &'static str,
        suffix: &'static str,
        algorithm: Algorithm,
    ) -> Self {
        Self::with_name(Name::Default { path, suffix, made: OnceCell::new() }, algorithm)
    }

    #[track_caller]
    const fn with_name(name: Name, algorithm: Algorithm) -> Self {
        Self {
            name,
            algorithm,
            micros: Plan::new(algorithm, Resolution::Micros),
            nanos: Plan::new(algorithm, Resolution::Nanos),
            mode: Mode::Enforce,
            on_error: None,
            service: None,
            hides_headers: false,
            seed: OnceCell::new(),
            location: Location::caller(),
            registered: OnceCell::new(),
            logged: Marks::new(),
            named: OnceCell::new(),
            #[cfg(feature = "redis")]
            escaped_name: OnceCell::new(),
            #[cfg(feature = "tower")]
            header_item: OnceCell::new(),
        }
    }

    /// The same rule in another mode.
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The same rule with its own answer to a store that fails; else the limiter's counts.
    #[must_use]
    pub const fn with_on_error(mut self, on_error: OnError) -> Self {
        self.on_error = Some(on_error);
        self
    }

    /// The same rule with the budgets of this service, instead of the one that the limiter is
    /// [set up](crate::LimiterBuilder::service) for: so two services share a rule's budgets on purpose.
    /// An empty name is none, and so is the limiter's own.
    #[must_use]
    pub const fn with_service(mut self, service: &'static str) -> Self {
        self.service = if service.is_empty() { None } else { Some(service) };
        self
    }

    /// The same rule, of which no header fields tell: clients learn of it when it refuses, and not
    /// before.
    #[must_use]
    pub const fn hide_headers(mut self) -> Self {
        self.hides_headers = true;
        self
    }

    /// Logs why calls do not run, each different mistake once: clients are not told, and an error type
    /// of the user's may not tell either.
    #[cold]
    pub(crate) fn log_mistake(&self, mistake: &InvalidCall) {
        // Rules can be made for each call: then that is a rule each time.
        static LINES: AtomicUsize = AtomicUsize::new(0);
        static MORE: OnceAMinute = OnceAMinute::new();
        if !self.logged.is_new(mistake.mark()) {
            return;
        }
        if LINES.fetch_add(1, Ordering::Relaxed) < MAX_LINES || MORE.is_due(Instant::now()) {
            let rule = self.name();
            tracing::error!(rule, error = %mistake, "invalid rate limit configuration: calls are rejected");
        }
    }

    /// The error that a number of this rule, or of a call of it, cannot be.
    #[cold]
    pub(crate) fn invalid(&self, number: InvalidNumber) -> ConfigError {
        ConfigError::Number { rule: self.name().into(), number: Box::new(number) }
    }

    /// What rate-limit headers say of the rule, whatever is decided.
    #[cfg(feature = "tower")]
    pub(crate) fn header_item(&self, make: impl FnOnce() -> HeaderItem) -> &Arc<HeaderItem> {
        self.header_item.get_or_init(|| Arc::new(make()))
    }

    /// Whether no header fields tell of the rule.
    pub const fn hides_headers(&self) -> bool {
        self.hides_headers
    }

    /// The rule's name.
    pub fn name(&self) -> &str {
        self.shared_name()
    }

    /// The rule's name, written like a key of one value.
    #[cfg(feature = "redis")]
    pub(crate) fn escaped_name(&self) -> &str {
        self.escaped_name.get_or_init(|| LimitKey::from(self.name()).as_str().into())
    }

    pub(crate) fn shared_name(&self) -> &RuleName {
        match &self.name {
            Name::Given(name) => name,
            Name::Default { path, suffix, made } => made.get_or_init(|| {
                RuleName::Shared([function_name(path()).as_str(), suffix].concat().into())
            }),
        }
    }

    /// What is counted and logged of it.
    #[inline]
    pub(crate) fn series(&self) -> &Arc<Series> {
        let named = self.named.get_or_init(|| {
            let is_made = matches!(self.name, Name::Given(RuleName::Shared(_)));
            let named = Names::of_process().named(self.name(), is_made);
            named.series().set_limit(self.algorithm.written_limit(), self.algorithm.per_second());
            named
        });
        named.series()
    }

    /// What the ids of the rule's keys are made with.
    pub(crate) fn seed(&self) -> Seed {
        let new = || Seed::of(self.name(), self.service, self.algorithm.kind());
        *self.seed.get_or_init(new)
    }

    /// The [seed](Self::seed) of the same rule without a service.
    #[cold]
    pub(crate) fn seed_at_home(&self) -> Seed {
        Seed::of(self.name(), None, self.algorithm.kind())
    }

    /// Whether the name was written by a person, and so may be shown to clients.
    pub const fn has_written_name(&self) -> bool {
        !matches!(self.name, Name::Default { .. })
    }

    /// How the rule counts. `None` if some of its numbers come with every call, as `capacity = plan.burst` of an
    /// attribute does: then a [`Check`] has them.
    pub const fn algorithm(&self) -> Option<Algorithm> {
        if self.algorithm.is_complete() { Some(self.algorithm) } else { None }
    }

    /// How it counts, with something that is no number for what comes with every call.
    pub(crate) const fn written(&self) -> Algorithm {
        self.algorithm
    }

    /// What the rule does with the calls that are over its limit.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The service whose budgets the rule uses, if it is written on the rule.
    pub const fn service(&self) -> Option<&'static str> {
        self.service
    }

    /// The rule's own answer to a store that fails.
    pub const fn on_error(&self) -> Option<OnError> {
        self.on_error
    }
}
