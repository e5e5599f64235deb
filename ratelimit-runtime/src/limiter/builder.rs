//! How a limiter is set up.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::{Events, Fallback, Latency, Limiter, OutageLog, Shared};
use crate::clock::Clock;
use crate::error::ConfigError;
use crate::event::LimitEvent;
use crate::rule::{Mode, OnError};
#[cfg(feature = "redis")]
use crate::store::redis::{Reach, Redis, Tls};
use crate::store::{Embedded, Store};

/// The variable that chooses Redis.
pub(super) const REDIS_URL: &str = "RATELIMIT_REDIS_URL";

/// The variable that names a file with root certificates for it.
const REDIS_CA: &str = "RATELIMIT_REDIS_CA";

/// The switch for bad nights.
const MODE: &str = "RATELIMIT_MODE";

/// Which store decides.
enum Source {
    Embedded,
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "there is nothing to open it"))]
    RedisUrl(String),
    #[cfg(feature = "redis")]
    RedisConnection(redis::aio::MultiplexedConnection),
    Store(Arc<dyn Store>),
}

/// Sets up a [`Limiter`]. Every setting has a default.
#[must_use = "a builder does nothing until `build`"]
pub struct LimiterBuilder {
    source: Source,
    clock: Clock,
    deadline: Duration,
    on_error: OnError,
    max_keys: usize,
    replicas: NonZeroU32,
    prefix: String,
    key_secret: Option<Box<[u8]>>,
    connect_timeout: Duration,
    waits_pass: bool,
    events: Events,
    #[cfg(feature = "redis")]
    tls: Tls,
}

impl fmt::Debug for LimiterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the source, which may hold a password, and not the secret.
        f.debug_struct("LimiterBuilder")
            .field("clock", &self.clock)
            .field("deadline", &self.deadline)
            .field("on_error", &self.on_error)
            .field("max_keys", &self.max_keys)
            .field("replicas", &self.replicas)
            .field("prefix", &self.prefix)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

impl Limiter {
    /// Starts to set up a limiter. Unless told otherwise it decides in this process.
    pub fn builder() -> LimiterBuilder {
        LimiterBuilder {
            source: Source::Embedded,
            clock: Clock::Server,
            deadline: Duration::from_millis(50),
            on_error: OnError::Local,
            max_keys: 100_000,
            replicas: NonZeroU32::MIN,
            prefix: "rate:limit".to_owned(),
            key_secret: None,
            connect_timeout: Duration::from_secs(1),
            waits_pass: false,
            events: Events::default(),
            #[cfg(feature = "redis")]
            tls: Tls::default(),
        }
    }

    /// A limiter on the Redis that `RATELIMIT_REDIS_URL` [names](LimiterBuilder::redis); without
    /// that variable, on the embedded store. `RATELIMIT_REDIS_CA` is the path of a file with the
    /// [root certificates](LimiterBuilder::redis_roots) that count for it.
    pub fn from_env() -> Result<Self, ConfigError> {
        let limiter = Self::silently_from_env()?;
        limiter.tell_mode();
        Ok(limiter)
    }

    /// The same without a word.
    pub(super) fn silently_from_env() -> Result<Self, ConfigError> {
        let Some(url) = env::var_os(REDIS_URL) else { return Self::builder().build_silently() };
        let builder = Self::builder().redis(url.to_str().ok_or(ConfigError::RedisUrl)?);
        let builder = match env::var_os(REDIS_CA) {
            None => builder,
            #[cfg(feature = "tls")]
            Some(file) => {
                builder.redis_roots(std::fs::read(file).map_err(|_| ConfigError::Certificates)?)
            }
            #[cfg(not(feature = "tls"))]
            Some(_) => return Err(ConfigError::NoTlsFeature),
        };
        builder.build_silently()
    }

    /// Says so if the environment has switched limits off.
    pub(super) fn tell_mode(&self) {
        let mode = self.shared.mode;
        if mode != Mode::Enforce {
            tracing::warn!(?mode, "{MODE} is set: no rate limit refuses a call");
        }
    }
}

impl LimiterBuilder {
    /// Decides in Redis or Valkey. It need not be there yet: connecting goes on in the background.
    ///
    /// | | |
    /// | --- | --- |
    /// | one server | `redis://[user:password@]host[:port][/database]` |
    /// | a socket | `unix:///path[?db=database&user=user&pass=password]` |
    /// | Sentinel | `redis+sentinel://[user:password@]host[:port],host[:port]/name[/database]` |
    /// | Cluster | `redis+cluster://[user:password@]host[:port],host[:port]` |
    ///
    /// With `rediss` instead of `redis` over TLS, which needs the feature `tls`. The login is for
    /// the servers that decide; one for the Sentinels themselves comes at the end, as
    /// `?sentinel_user=user&sentinel_password=password`. In a URL, whatever is no letter or digit of a
    /// password is best written as `%` and its code: `%40` for `@`, `%2F` for `/`, `%3F` for `?`.
    ///
    /// Sentinels are asked once per second whether there is another primary now. Their user needs
    /// `+sentinel|get-master-addr-by-name`, and `+sentinel|master` to tell old news from new.
    pub fn redis(mut self, url: impl Into<String>) -> Self {
        self.source = Source::RedisUrl(url.into());
        self
    }

    /// The root certificates, in PEM, that vouch for Redis servers, instead of those of the system.
    #[cfg(feature = "tls")]
    pub fn redis_roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.roots = Some(pem.into());
        self
    }

    /// The certificate and the private key, both in PEM, by which Redis servers know this client.
    #[cfg(feature = "tls")]
    pub fn redis_identity(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.tls.identity = Some((certificate.into(), key.into()));
        self
    }

    /// How long one attempt to connect may take, TLS and login included; else 1 second. No check
    /// waits for that longer than its [`deadline`](Self::deadline).
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Decides over a connection of the caller's. The runtime on which it was made drives it, so
    /// blocking checks are not possible, and nothing replaces it when it is lost.
    ///
    /// Make it with `TCP_NODELAY`, which the client leaves off: without it a check waits until the
    /// network has acknowledged the one before, and at some milliseconds of distance many are late.
    ///
    /// ```no_run
    /// # async fn limiter() -> Result<ratelimit_runtime::Limiter, Box<dyn std::error::Error>> {
    /// use redis::IntoConnectionInfo as _;
    ///
    /// let tcp = redis::io::tcp::TcpSettings::default().set_nodelay(true);
    /// let server = "redis://127.0.0.1".into_connection_info()?.set_tcp_settings(tcp);
    /// let connection = redis::Client::open(server)?.get_multiplexed_async_connection().await?;
    /// let limiter = ratelimit_runtime::Limiter::builder().redis_connection(connection).build()?;
    /// # Ok(limiter)
    /// # }
    /// ```
    #[cfg(feature = "redis")]
    pub fn redis_connection(mut self, connection: redis::aio::MultiplexedConnection) -> Self {
        self.source = Source::RedisConnection(connection);
        self
    }

    /// Decides in a store of another kind.
    pub fn store(mut self, store: impl Store) -> Self {
        self.source = Source::Store(Arc::new(store));
        self
    }

    /// Whose time decides; else the store's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How long a check may take; else 50 ms. After that the rule's [`OnError`] decides.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// What rules do when the store does not answer, if they do not say it; else
    /// [`OnError::Local`].
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// How many keys the embedded store holds, here and when it stands in for Redis; else 100,000. One
    /// rule has three quarters of them at most.
    pub fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = max_keys.max(1);
        self
    }

    /// How many instances share the limits: [`OnError::Local`] gives each its part; else 1.
    pub fn replicas(mut self, replicas: NonZeroU32) -> Self {
        self.replicas = replicas;
        self
    }

    /// What the names of all keys in Redis begin with; else `rate:limit`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The secret for `hash(…)` in keys. All instances need the same.
    pub fn key_secret(mut self, secret: impl Into<Vec<u8>>) -> Self {
        self.key_secret = Some(secret.into().into_boxed_slice());
        self
    }

    /// Whether the log says who was limited: the key as it is stored (of `hash(..)` the hash), limit,
    /// cost, retry time, and who decided; else `false`. Up to 8 keys a rule in 10 seconds have a line of
    /// their own, all others are counted in one, at info level.
    ///
    /// Keys name people: whoever reads the log can read them then. What that means is in `SECURITY.md`.
    pub fn log_keys(mut self, log_keys: bool) -> Self {
        self.events.log_keys = log_keys;
        self
    }

    /// Calls a hook for each call that a rule did not simply admit: refused, invalid, let pass or turned
    /// away because the store did not answer, or what a shadow rule would have refused. It learns the key.
    ///
    /// ```
    /// # use ratelimit_runtime::{ConfigError, LimitEvent, LimitEventKind, Limiter};
    /// let limiter = Limiter::builder().on_event(|event: &LimitEvent<'_>| {
    ///     if event.kind == LimitEventKind::Refused {
    ///         // Hand it over to whoever keeps an account: a channel, a counter.
    ///     }
    /// });
    /// # limiter.build()?;
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// It runs where the call does, after the decision, and cannot change it: the caller waits for it, and
    /// in async code so does whatever shares its thread. When it panics the call goes on. Limited
    /// functions that it calls give no events.
    pub fn on_event(mut self, hook: impl Fn(&LimitEvent<'_>) + Send + Sync + 'static) -> Self {
        self.events.hook = Some(Arc::new(hook));
        self
    }

    /// Makes the limiter.
    ///
    /// `RATELIMIT_MODE=shadow` in the environment makes it watch only: all rules are judged and
    /// counted, and none refuses. With `RATELIMIT_MODE=off` it does not even look.
    pub fn build(self) -> Result<Limiter, ConfigError> {
        let limiter = self.build_silently()?;
        limiter.tell_mode();
        Ok(limiter)
    }

    fn build_silently(self) -> Result<Limiter, ConfigError> {
        let mode = mode(env::var_os(MODE).as_deref())?;
        for (setting, time) in
            [("deadline", self.deadline), ("connect_timeout", self.connect_timeout)]
        {
            if time.is_zero() {
                return Err(ConfigError::ZeroTime { setting });
            }
        }
        check_prefix(&self.prefix)?;
        let (store, blocking): (Arc<dyn Store>, bool) = match &self.source {
            Source::Embedded => return Ok(self.embedded(mode)),
            Source::Store(store) => (store.clone(), true),
            #[cfg(feature = "redis")]
            Source::RedisUrl(url) => {
                let reach = Reach {
                    connect_timeout: self.connect_timeout,
                    deadline: self.deadline,
                    tls: self.tls.clone(),
                };
                let (prefix, clock) = (self.prefix.clone(), self.clock.clone());
                (Arc::new(Redis::open(url, reach, prefix, clock)?), true)
            }
            #[cfg(feature = "redis")]
            Source::RedisConnection(connection) => {
                let (prefix, clock) = (self.prefix.clone(), self.clock.clone());
                (Arc::new(Redis::over(connection.clone(), prefix, clock, self.deadline)), false)
            }
            #[cfg(not(feature = "redis"))]
            Source::RedisUrl(_) => return Err(ConfigError::NoRedisFeature),
        };
        Ok(self.over(store, blocking, mode))
    }

    /// For tests: see [`testing::limiter`](crate::testing::limiter).
    #[cfg(feature = "testing")]
    pub(crate) fn waits_pass(mut self) -> Self {
        self.waits_pass = true;
        self
    }

    /// A limiter that decides in this process.
    pub(crate) fn embedded(self, mode: Mode) -> Limiter {
        let store = Embedded::new().with_max_keys(self.max_keys).with_clock(self.clock.clone());
        self.over(Arc::new(store), true, mode)
    }

    fn over(self, store: Arc<dyn Store>, blocking: bool, mode: Mode) -> Limiter {
        let fallback = Fallback::new(self.max_keys, self.clock.clone(), self.replicas);
        let shared = Shared {
            store,
            blocking,
            clock: self.clock,
            deadline: self.deadline,
            on_error: self.on_error,
            mode,
            fallback,
            outages: OutageLog::new(),
            latency: Latency::new(),
            events: self.events,
            waits_pass: self.waits_pass,
            key_secret: self.key_secret,
        };
        Limiter { shared: Arc::new(shared) }
    }
}

/// Whether keys in Redis can begin with it.
fn check_prefix(prefix: &str) -> Result<(), ConfigError> {
    let has = |unfit: fn(char) -> bool| prefix.contains(unfit);
    let problem = match prefix.len() {
        0 => "is empty",
        65.. => "is longer than 64 bytes",
        _ if has(|c| matches!(c, '{' | '}')) => {
            "has a brace, which would put keys of a Cluster into other slots"
        }
        _ if has(char::is_whitespace) => "has a blank",
        _ if has(char::is_control) => "has a control character",
        _ => return Ok(()),
    };
    Err(ConfigError::Prefix { problem })
}

/// The mode that the environment asks for.
fn mode(variable: Option<&OsStr>) -> Result<Mode, ConfigError> {
    match variable.map(OsStr::as_encoded_bytes) {
        None | Some(b"" | b"enforce") => Ok(Mode::Enforce),
        Some(b"shadow") => Ok(Mode::Shadow),
        Some(b"off") => Ok(Mode::Off),
        Some(_) => Err(ConfigError::ModeVariable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_switches_limits_off() {
        let read = |value: &str| mode(Some(OsStr::new(value)));
        assert_eq!(mode(None), Ok(Mode::Enforce));
        assert_eq!(read("enforce"), Ok(Mode::Enforce));
        assert_eq!(read("shadow"), Ok(Mode::Shadow));
        assert_eq!(read("off"), Ok(Mode::Off));
        assert_eq!(read("of"), Err(ConfigError::ModeVariable));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let builder = Limiter::builder().redis("redis://app:S3cr3t@host").key_secret("S3cr3t");
        assert!(!format!("{builder:?}").contains("S3cr3t"));
    }
}
