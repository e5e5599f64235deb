//! Everything that can keep a function's body from running, and every way to configure it wrong.
//!
//! Nothing here ever holds a key, an address with credentials or another value of a user.

mod number;
mod redis;

use std::panic::Location;
use std::time::Duration;

use crate::decision::{Decision, Outcome};

pub use self::number::InvalidNumber;
pub(crate) use self::number::{Argument, Fault};
pub use self::redis::{InvalidCertificates, InvalidPasswordFile, InvalidUrl};

/// Why the body of a limited function did not run.
///
/// Three different things, never mixed up: the budget is used up; no store answered; the call
/// itself is wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// The budget is used up. Over HTTP: 429.
    #[error(transparent)]
    Limited(#[from] Limited),
    /// No store answered, and the rule is closed then. Over HTTP: 503.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The call or the configuration is wrong. Over HTTP: 400 or 500, see
    /// [`InvalidCall::is_client_error`].
    #[error(transparent)]
    Invalid(#[from] InvalidCall),
}

impl RateLimitError {
    /// How long to wait before the same call is admitted if nothing else happens. `None` when
    /// waiting does not help, or when it is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(refusal) => refusal.retry_after(),
            Self::Unavailable(_) | Self::Invalid(_) => None,
        }
    }

    /// The HTTP status that says this: 429, 503, 400 or 500.
    pub fn http_status(&self) -> u16 {
        match self {
            Self::Limited(_) => 429,
            Self::Unavailable(_) => 503,
            Self::Invalid(mistake) if mistake.is_client_error() => 400,
            Self::Invalid(_) => 500,
        }
    }
}

/// A budget that is used up: the decision, and the outcome that decides how long to wait.
#[derive(Clone, Debug)]
pub struct Limited {
    decision: Box<Decision>,
}

impl Limited {
    pub(crate) fn new(decision: Decision) -> Self {
        Self { decision: Box::new(decision) }
    }

    /// The whole decision, with the outcomes of the rules that would have let the call pass.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The outcome of the rule that refused; of several, the one with the longest wait.
    pub fn outcome(&self) -> Option<&Outcome> {
        let refused =
            self.decision.outcomes().iter().filter(|o| !o.is_admitted() && !o.is_shadow());
        // No wait will do when there is no time to retry, so that is the longest.
        refused.max_by_key(|o| (o.retry_after().is_none(), o.retry_after()))
    }

    /// The name of that rule.
    pub fn rule(&self) -> &str {
        self.outcome().map_or("", Outcome::rule)
    }

    /// The capacity or limit of that rule.
    pub fn limit(&self) -> u64 {
        self.outcome().map_or(0, super::decision::Outcome::limit)
    }

    /// The largest cost that this rule would still admit.
    pub fn remaining(&self) -> u64 {
        self.outcome().map_or(0, super::decision::Outcome::remaining)
    }

    /// How long to wait before the same call is admitted if nothing else happens, in whole
    /// milliseconds. `None`: no wait will do.
    pub fn retry_after(&self) -> Option<Duration> {
        self.outcome().and_then(super::decision::Outcome::retry_after)
    }
}

impl std::fmt::Display for Limited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = self.rule();
        match self.retry_after() {
            Some(wait) => write!(f, "rate limit `{rule}` exceeded, retry in {wait:?}"),
            None => write!(f, "rate limit `{rule}` admits no call of this cost"),
        }
    }
}

impl std::error::Error for Limited {}

/// No store answered, and a rule of the call is [`closed`](crate::OnError::Closed) then.
#[derive(Clone, Debug, thiserror::Error)]
#[error("rate limit `{rule}` cannot be decided: {cause}")]
pub struct Unavailable {
    pub(crate) rule: String,
    #[source]
    pub(crate) cause: StoreError,
}

impl Unavailable {
    /// The name of the rule that is closed.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Why there was no answer.
    pub fn cause(&self) -> &StoreError {
        &self.cause
    }
}

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

/// A configuration that cannot work.
///
/// `{:?}` shows the same text as `{}`: it is what a `main` that returns this prints.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A rule, or a call of it, has a number that its algorithm cannot count with. Nothing is charged,
    /// and what was in force stays so: the next call with valid numbers finds the budget as it was.
    #[error("rate limit `{rule}`: {number}")]
    Number {
        /// The rule's name.
        rule: Box<str>,
        /// Which number, its value, and what is wrong with it.
        number: Box<InvalidNumber>,
    },
    /// A call has numbers of another algorithm than its rule: their state is not comparable.
    #[error(
        "rate limit `{rule}` has another algorithm than `{given}`, for which a call has numbers"
    )]
    OtherAlgorithm {
        /// The rule's name.
        rule: Box<str>,
        /// The algorithm of the call's numbers.
        given: &'static str,
    },
    /// Two rules in code go by one name that nobody wrote: each has the name of the function it
    /// stands on. Give one of them a `name`.
    #[error(
        "the rate limits at {one} and {other} have one default name, `{rule}`: give one a `name`"
    )]
    DefaultName {
        /// The name of both.
        rule: Box<str>,
        /// Where the first is written.
        one: &'static Location<'static>,
        /// Where the other is written.
        other: &'static Location<'static>,
    },
    /// Two rules in code have one name, and so share their budgets, but not their numbers.
    #[error("the rate limits at {one} and {other} have one name, `{rule}`, and different numbers")]
    OtherNumbers {
        /// The name of both.
        rule: Box<str>,
        /// Where the first is written.
        one: &'static Location<'static>,
        /// Where the other is written.
        other: &'static Location<'static>,
    },
    /// More checks in one call than a script should be asked for.
    #[error("{checks} checks in one call are more than the maximum {max}")]
    TooManyChecks {
        /// How many there were.
        checks: usize,
        /// The most that are possible.
        max: usize,
    },
    /// The process already has a limiter.
    #[error("{}", already_installed(*.at))]
    AlreadyInstalled {
        /// Where it was installed; `None` if the first limited call has set it up.
        at: Option<&'static Location<'static>>,
    },
    /// `RATELIMIT_REDIS_URL` or a URL given in code is not a Redis URL.
    #[error("the Redis URL is not valid: {0}")]
    RedisUrl(InvalidUrl),
    /// A `rediss` URL, or certificates, and the crate is built without its `tls` feature.
    #[error("Redis is to be reached over TLS, but the `tls` feature of ratelimit-kit is off")]
    NoTlsFeature,
    /// A file with a password for Redis that cannot be used.
    #[error("the file with the password for Redis {0}")]
    PasswordFile(InvalidPasswordFile),
    /// Certificates for Redis that cannot be used.
    #[error("the certificates for Redis cannot be used: {0}")]
    Certificates(InvalidCertificates),
    /// A Redis URL is given, and the crate is built without its `redis` feature.
    #[error("a Redis URL is given, but the `redis` feature of ratelimit-kit is off")]
    NoRedisFeature,
    /// A variable of the environment has a wrong value.
    #[error("{variable}: {problem}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// What is wrong, or what it may be. Never the value.
        problem: Box<str>,
    },
    /// The limiter must not decide in this process alone, and no other store is set up.
    #[error(
        "the limiter has to be shared, and no shared store is set up: \
         set RATELIMIT_REDIS_URL, or a store in code"
    )]
    NotShared,
    /// The prefix of all keys cannot be used.
    #[error("the key prefix {problem}")]
    Prefix {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A proxy that is to be trusted is neither a network nor an address.
    #[error(
        "a trusted proxy must be an address or a network, like 10.0.0.5 or 10.0.8.0/28: `{entry}` is neither"
    )]
    Network {
        /// What is written there.
        entry: Box<str>,
    },
    /// The networks of proxies that are to be trusted hold all of IPv4 or of IPv6: everybody could choose whose
    /// request it is.
    #[error(
        "with `{entry}`, everybody is trusted as a proxy and can be any client: name the proxies, or say \
         `dangerously_trusting_everybody`"
    )]
    TrustsEverybody {
        /// The network with which they do.
        entry: Box<str>,
    },
    /// A prefix of a NAT64 has another length than there are, or bits behind it.
    #[error(
        "a prefix of a NAT64 must have 32, 40, 48, 56, 64 or 96 bits, like 2001:db8:64::/96: `{entry}` is \
         none"
    )]
    Nat64Prefix {
        /// What is written there.
        entry: Box<str>,
    },
    /// A time that calls or connections have is zero.
    #[error("`{setting}` must be longer than zero")]
    ZeroTime {
        /// The setting: `deadline` or `connect_timeout`.
        setting: &'static str,
    },
    /// The limiter is only a connection that the caller drives, which cannot be waited for here.
    #[error("a limiter over a handed-in connection cannot be used from a blocking function")]
    BlockingConnection,
    /// The operating system gave no thread.
    #[error("the limiter's own thread could not be started")]
    Thread,
}

impl std::fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn already_installed(at: Option<&Location<'_>>) -> String {
    match at {
        Some(at) => format!("a limiter is already installed, at {at}"),
        None => {
            "the first limited call has already set up a limiter by itself: install one before it"
                .to_owned()
        }
    }
}

/// Why a store did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The answer did not come within the deadline.
    #[error("the store did not answer within {deadline:?}")]
    Deadline {
        /// The limiter's deadline.
        deadline: Duration,
    },
    /// There is no connection.
    #[error("the store cannot be reached: {reason}")]
    Connection {
        /// What is known of the reason.
        reason: String,
    },
    /// The user may not run the script, or may not log in.
    #[error("the store refuses permission or authentication: {reason}")]
    Permission {
        /// The code of the server's error, and what it means.
        reason: String,
    },
    /// The server answered with an error.
    #[error("the store cannot be used: {reason}")]
    Server {
        /// The code of the server's error, or what is wrong with the server.
        reason: String,
    },
    /// The server's answer is not one of our scripts'.
    #[error("the store's answer makes no sense")]
    Reply,
    /// A check cannot be sent to this store.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl StoreError {
    /// One word for it: `deadline`, `connection`, `permission`, `server`, `reply` or `config`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Deadline { .. } => "deadline",
            Self::Connection { .. } => "connection",
            Self::Permission { .. } => "permission",
            Self::Server { .. } => "server",
            Self::Reply => "reply",
            Self::Config(_) => "config",
        }
    }
}
