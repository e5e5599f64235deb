//! [`LayerRule`]: a rule of a layer, and what of it each request decides.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::context::RequestContext;
use crate::key::LimitKey;
use crate::rule::{Algorithm, Check, Mode, Rule};

/// What a closure makes of a request.
type Of<T> = Arc<dyn Fn(&RequestContext) -> T + Send + Sync>;

/// A rule of a [layer](crate::RateLimitLayer::limit), with what each request says of it: whether it counts
/// for it, how much it costs, which numbers are in force. A [`Rule`] becomes one by itself.
///
/// ```
/// # use std::time::Duration;
/// # use ratelimit_runtime::{Algorithm, RequestContext, LayerRule, RateLimitLayer, Rule};
/// let window = Duration::from_mins(1);
/// let rule = Rule::named("api", Algorithm::FixedWindow { limit: 100, window });
/// let rule = LayerRule::from(rule)
///     .skip(|context| context.method() == Some("OPTIONS"))
///     .with_cost(|context| if context.route() == Some("/export") { 10 } else { 1 })
///     .with_algorithm(move |context| {
///         let limit = if context.tenant().is_some() { 1_000 } else { 100 };
///         Algorithm::FixedWindow { limit, window }
///     });
/// let layer = RateLimitLayer::new().limit(rule, RequestContext::ip_key);
/// ```
///
/// What a client chooses is no ground for any of it: a header that nobody has checked exempts whoever sends it.
#[derive(Clone)]
#[must_use = "a rule does nothing until a layer has it"]
pub struct LayerRule {
    rule: Arc<Rule>,
    skip: Vec<Of<bool>>,
    cost: Option<Of<u64>>,
    algorithm: Option<Of<Algorithm>>,
    mode: Option<Of<Mode>>,
}

impl From<Rule> for LayerRule {
    fn from(rule: Rule) -> Self {
        Self { rule: Arc::new(rule), skip: Vec::new(), cost: None, algorithm: None, mode: None }
    }
}

impl LayerRule {
    /// Leaves requests out: this rule neither judges nor counts them, and their responses have no header fields of
    /// it. Of several closures, one is enough. For all rules of a layer there is
    /// [`RateLimitLayer::skip`](crate::RateLimitLayer::skip).
    pub fn skip(mut self, skip: impl Fn(&RequestContext) -> bool + Send + Sync + 'static) -> Self {
        self.skip.push(Arc::new(skip));
        self
    }

    /// How many permits a request takes; else 1. With 0 it is always admitted, so what comes from the request
    /// needs a `.max(1)`. More than the limit is a mistake of the caller's, 400.
    pub fn with_cost(
        mut self,
        cost: impl Fn(&RequestContext) -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.cost = Some(Arc::new(cost));
        self
    }

    /// The numbers in force for a request, instead of the rule's: of the same algorithm, else it is a mistake of the
    /// service's, 500. They apply at once, and what is used stays used.
    pub fn with_algorithm(
        mut self,
        algorithm: impl Fn(&RequestContext) -> Algorithm + Send + Sync + 'static,
    ) -> Self {
        self.algorithm = Some(Arc::new(algorithm));
        self
    }

    /// What the rule does with a request that is over the limit, instead of what is
    /// [set](Rule::with_mode) on the rule.
    pub fn with_mode(
        mut self,
        mode: impl Fn(&RequestContext) -> Mode + Send + Sync + 'static,
    ) -> Self {
        self.rule = Arc::new(Rule::clone(&self.rule).with_mode(Mode::Enforce));
        self.mode = Some(Arc::new(mode));
        self
    }

    pub(super) fn rule(&self) -> &Arc<Rule> {
        &self.rule
    }

    /// The check of a request, if the rule counts for it. The key is made only then.
    pub(super) fn check<'r>(
        &'r self,
        context: &RequestContext,
        key: impl FnOnce(&RequestContext) -> LimitKey,
        wait: Option<Duration>,
    ) -> Option<Check<'r>> {
        let mode = self.mode.as_ref().map_or(self.rule.mode(), |mode| mode(context));
        if mode == Mode::Off || self.skip.iter().any(|skip| skip(context)) {
            return None;
        }
        let mut check = Check::new(&self.rule, key(context));
        if let Some(cost) = &self.cost {
            check = check.with_cost(cost(context));
        }
        if let Some(algorithm) = &self.algorithm {
            check = check.with_algorithm(algorithm(context));
        }
        if let Some(wait) = wait {
            check = check.with_max_delay(wait);
        }
        Some(if mode == Mode::Shadow { check.as_shadow() } else { check })
    }
}

impl fmt::Debug for LayerRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayerRule").field("rule", &self.rule).finish_non_exhaustive()
    }
}
