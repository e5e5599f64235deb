//! [`ConfigError`]: a configuration that cannot work.

use std::panic::Location;

use super::{InvalidCertificates, InvalidNumber, InvalidPasswordFile, InvalidUrl};

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
        "the rate limits at {one} and {other} have the same default name, `{rule}`: give one a `name`"
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
