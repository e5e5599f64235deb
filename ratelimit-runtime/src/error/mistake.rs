//! [`InvalidCall`]: a call that no store is asked about.

use super::{ConfigError, InvalidNumber};

/// A call or a configuration that is wrong. Waiting does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCall {
    /// The key, or a value in it, is empty: all such calls would share one budget. Give the value
    /// a default: `user ?: 'anonymous'`.
    #[error("the key of rate limit `{rule}` has an empty value")]
    EmptyKey {
        /// The rule's name.
        rule: String,
    },
    /// The call costs more than the rule can ever give.
    #[error("a cost of {cost} exceeds the capacity {limit} of rate limit `{rule}`")]
    CostExceedsCapacity {
        /// The rule's name.
        rule: String,
        /// What the call costs.
        cost: u64,
        /// The rule's capacity or limit.
        limit: u64,
    },
    /// The cost is below zero.
    #[error("the cost of a call to rate limit `{rule}` is {cost}, and cannot be negative")]
    NegativeCost {
        /// The rule's name.
        rule: String,
        /// What the call costs; the smallest `i64` stands for everything below it.
        cost: i64,
    },
    /// The key uses something of a request, like `@path`, and there is no request's
    /// [`RequestContext`](crate::RequestContext): a layer or middleware of the framework makes it. It ends with the request:
    /// work that goes on, such as the messages of a connection, takes it along.
    #[error(
        "the key of rate limit `{rule}` needs the context of a request: is a layer around what is called? Spawned \
         work, messages of a connection and streams take it along, as \"Messages of a connection\" in \
         docs/http.md says"
    )]
    NoContext {
        /// The rule's name.
        rule: String,
    },
    /// The key uses the client's address, `@ip`, and the request's [`RequestContext`](crate::RequestContext) has none: the
    /// layer does not know the peer.
    #[error(
        "the key of rate limit `{rule}` needs the client's address, and the layer does not know the peer: serve \
         axum with `into_make_service_with_connect_info::<SocketAddr>()`; behind a Unix socket set \
         `ClientIp::behind_hops` for the proxies in front; else say it by `RateLimitLayer::peer`"
    )]
    NoClientIp {
        /// The rule's name.
        rule: String,
    },
    /// The key uses `@route`, and the layer has not seen which route matches.
    #[error(
        "the key of rate limit `{rule}` needs `@route`, and the layer does not know the routes: add it to the \
         router, as in `Router::layer`, and not around it, or say the route by `RateLimitLayer::route`"
    )]
    NoRoute {
        /// The rule's name.
        rule: String,
    },
    /// The key uses `hash(…)`, and the limiter has no secret for it.
    #[error("the key of rate limit `{rule}` is hashed, and the limiter has no key secret")]
    NoSecret {
        /// The rule's name.
        rule: String,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl InvalidCall {
    /// The name of the rule, where it is known.
    pub(crate) fn rule(&self) -> Option<&str> {
        match self {
            Self::EmptyKey { rule }
            | Self::CostExceedsCapacity { rule, .. }
            | Self::NegativeCost { rule, .. }
            | Self::NoContext { rule }
            | Self::NoClientIp { rule }
            | Self::NoRoute { rule }
            | Self::NoSecret { rule } => Some(rule),
            Self::Config(_) => None,
        }
    }

    /// One word for it.
    #[cfg(feature = "metrics")]
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::EmptyKey { .. } => "empty_key",
            Self::CostExceedsCapacity { .. } => "cost_exceeds_capacity",
            Self::NegativeCost { .. } => "negative_cost",
            Self::NoContext { .. } => "no_context",
            Self::NoClientIp { .. } => "no_client_ip",
            Self::NoRoute { .. } => "no_route",
            Self::NoSecret { .. } => "no_secret",
            Self::Config(_) => "config",
        }
    }

    /// A number below 64 for what is wrong, whatever the values: each is logged once for a rule.
    pub(crate) const fn mark(&self) -> u32 {
        match self {
            Self::EmptyKey { .. } => 0,
            Self::CostExceedsCapacity { .. } => 1,
            Self::NegativeCost { .. } => 2,
            Self::NoClientIp { .. } => 3,
            Self::NoContext { .. } => 4,
            Self::NoSecret { .. } => 5,
            Self::Config(ConfigError::DefaultName { .. }) => 6,
            Self::Config(ConfigError::OtherNumbers { .. }) => 7,
            Self::Config(ConfigError::OtherAlgorithm { .. }) => 8,
            Self::Config(ConfigError::TooManyChecks { .. }) => 9,
            Self::Config(ConfigError::BlockingConnection) => 10,
            Self::Config(ConfigError::Thread) => 11,
            Self::Config(ConfigError::Number { number, .. }) => 12 + number.mark(),
            Self::Config(_) => 12 + InvalidNumber::MARKS,
            Self::NoRoute { .. } => 13 + InvalidNumber::MARKS,
        }
    }

    /// Whether the caller of the function is to blame (400), and not who configured it (500).
    pub fn is_client_error(&self) -> bool {
        matches!(
            self,
            Self::EmptyKey { .. }
                | Self::CostExceedsCapacity { .. }
                | Self::NegativeCost { .. }
                // Nobody writes so many rules: they come from a list in a request.
                | Self::Config(ConfigError::TooManyChecks { .. })
        )
    }
}
