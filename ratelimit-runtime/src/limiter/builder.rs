//! How a limiter is set up.

use std::env;
use std::fmt;
use std::num::NonZeroU32;
#[cfg(feature = "tls")]
use std::path::Path;
#[cfg(feature = "redis")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::environment::{Bytes, REDIS_URL, Settings, check_prefix, wrong};
#[cfg(feature = "redis")]
use super::environment::{REDIS_CA, REDIS_PASSWORD_FILE, REDIS_SENTINEL_PASSWORD_FILE};
use super::start::{ChosenBy, Start};
use super::{Events, Fallback, Latency, Limiter, OutageLog, Shared};
use crate::clock::Clock;
use crate::error::ConfigError;
use crate::event::LimitEvent;
use crate::rule::{Mode, OnError};
#[cfg(feature = "tls")]
use crate::store::redis::Pem;
#[cfg(feature = "redis")]
use crate::store::redis::{ConnectSettings, KeyPrefix, Provider, Redis, RedisCredentials, Tls};
use crate::store::{Embedded, Store};

/// Which store decides.
enum Source {
    Embedded,
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "there is nothing to open it"))]
    RedisUrl(String),
    #[cfg(feature = "redis")]
    RedisConnection(redis::aio::MultiplexedConnection),
    Store(Arc<dyn Store>),
}

impl Source {
    const fn is_redis(&self) -> bool {
        !matches!(self, Self::Embedded | Self::Store(_))
    }

    /// Whether a blocking call would wait for something that its own thread may have to drive.
    const fn is_driven_by_caller(&self) -> bool {
        match self {
            Self::Embedded | Self::Store(_) | Self::RedisUrl(_) => false,
            #[cfg(feature = "redis")]
            Self::RedisConnection(_) => true,
        }
    }
}

/// Sets up a [`Limiter`]. Every setting has a default.
#[must_use = "a builder does nothing until `build`"]
pub struct LimiterBuilder {
    /// `None`: as the environment says.
    source: Option<Source>,
    settings: Settings,
    requires_shared: bool,
    auto_advance: bool,
    events: Events,
    #[cfg(feature = "redis")]
    tls: Tls,
    #[cfg(feature = "redis")]
    credentials: Login,
    #[cfg(feature = "redis")]
    sentinel_credentials: Login,
}

/// As whom to log in.
#[cfg(feature = "redis")]
#[derive(Default)]
enum Login {
    /// As the URL says.
    #[default]
    Url,
    Asked(Provider),
    File(PathBuf),
}

#[cfg(feature = "redis")]
impl Login {
    /// Whoever knows, with a file that the environment names where the code says nothing.
    fn provider(
        &self,
        of_environment: Option<PathBuf>,
        variable: &'static str,
    ) -> Result<Option<Provider>, ConfigError> {
        match (self, of_environment) {
            (Self::Url, None) => Ok(None),
            (Self::Url, Some(path)) => {
                Provider::file(path).map(Some).map_err(|error| wrong(variable, &error.to_string()))
            }
            (Self::Asked(provider), _) => Ok(Some(provider.clone())),
            (Self::File(path), _) => Provider::file(path.clone()).map(Some),
        }
    }
}

impl fmt::Debug for LimiterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the source, which may hold a password, and not the secret.
        f.debug_struct("LimiterBuilder")
            .field("clock", &self.settings.clock)
            .field("deadline", &self.settings.deadline)
            .field("on_error", &self.settings.on_error)
            .field("max_keys", &self.settings.max_keys)
            .field("replicas", &self.settings.replicas)
            .field("prefix", &self.settings.prefix)
            .field("service", &self.settings.service)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

impl Limiter {
    /// Starts to set up a limiter. What is not set here is as the environment
    /// [says](LimiterBuilder::build); without a store there either, it decides in this process.
    pub fn builder() -> LimiterBuilder {
        LimiterBuilder {
            source: None,
            settings: Settings::default(),
            requires_shared: false,
            auto_advance: false,
            events: Events::default(),
            #[cfg(feature = "redis")]
            tls: Tls::default(),
            #[cfg(feature = "redis")]
            credentials: Login::default(),
            #[cfg(feature = "redis")]
            sentinel_credentials: Login::default(),
        }
    }

    /// As the [environment says](LimiterBuilder::build), with nothing set in code: on the Redis that
    /// `RATELIMIT_REDIS_URL` [names](LimiterBuilder::redis); without that variable, in this process.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::builder().build()
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
        self.source = Some(Source::RedisUrl(url.into()));
        self
    }

    /// The root certificates, in PEM, that vouch for Redis servers, instead of those of the system.
    #[cfg(feature = "tls")]
    pub fn redis_roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.settings.redis_roots = Some(Bytes::Given(pem.into()));
        self
    }

    /// As [`redis_roots`](Self::redis_roots), in a file that is read for every connection.
    #[cfg(feature = "tls")]
    pub fn redis_roots_file(mut self, path: impl AsRef<Path>) -> Self {
        self.tls.roots = Some(Pem::File(path.as_ref().into()));
        self
    }

    /// As [`redis_identity`](Self::redis_identity), in files that are read for every connection.
    #[cfg(feature = "tls")]
    pub fn redis_identity_files(
        mut self,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Self {
        let file = |path: &Path| Pem::File(path.into());
        self.tls.identity = Some((file(certificate.as_ref()), file(key.as_ref())));
        self
    }

    /// The certificate and the private key, both in PEM, by which Redis servers know this client.
    #[cfg(feature = "tls")]
    pub fn redis_identity(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        let pem = |pem: Vec<u8>| Pem::Given(pem.into());
        self.tls.identity = Some((pem(certificate.into()), pem(key.into())));
        self
    }

    /// Asks for the password, and for its user, whenever a connection is made, instead of taking those
    /// of the URL: for passwords that change. While a login is refused it is asked once per second and
    /// server, and something else than what was refused is tried at once. `None` stands for: there
    /// are no credentials now; then no connection is made.
    ///
    /// It is called on a thread where it may block, but no longer than
    /// [`connect_timeout`](Self::connect_timeout): one that takes longer counts as `None`.
    ///
    /// ```
    /// # use ratelimit_runtime::{RedisCredentials, Limiter};
    /// let limiter = Limiter::builder().redis("redis://redis.internal").redis_credentials(|| {
    ///     let password = std::fs::read_to_string("/run/secrets/redis").ok()?;
    ///     Some(RedisCredentials::new("app", password.trim_end()))
    /// });
    /// ```
    #[cfg(feature = "redis")]
    pub fn redis_credentials(
        mut self,
        provider: impl Fn() -> Option<RedisCredentials> + Send + Sync + 'static,
    ) -> Self {
        self.credentials = Login::Asked(Provider::new(provider));
        self
    }

    /// Reads the password from a file whenever a connection is made: the user is the URL's. A line break
    /// at its end does not count.
    #[cfg(feature = "redis")]
    pub fn redis_password_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.credentials = Login::File(path.into());
        self
    }

    /// As [`redis_password_file`](Self::redis_password_file), for the Sentinels themselves: the user is
    /// `sentinel_user` of the URL.
    #[cfg(feature = "redis")]
    pub fn redis_sentinel_password_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.sentinel_credentials = Login::File(path.into());
        self
    }

    /// As [`redis_credentials`](Self::redis_credentials), for the Sentinels themselves.
    #[cfg(feature = "redis")]
    pub fn redis_sentinel_credentials(
        mut self,
        provider: impl Fn() -> Option<RedisCredentials> + Send + Sync + 'static,
    ) -> Self {
        self.sentinel_credentials = Login::Asked(Provider::new(provider));
        self
    }

    /// How long one attempt to connect may take, TLS and login included; else 1 second. No check
    /// waits for that longer than its [`deadline`](Self::deadline).
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = Some(timeout);
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
        self.source = Some(Source::RedisConnection(connection));
        self
    }

    /// Decides in a store of another kind.
    pub fn store(mut self, store: impl Store) -> Self {
        self.source = Some(Source::Store(Arc::new(store)));
        self
    }

    /// Decides in this process, also where `RATELIMIT_REDIS_URL` is set: limits hold for this process
    /// only.
    pub fn embedded(mut self) -> Self {
        self.source = Some(Source::Embedded);
        self
    }

    /// Refuses to [build](Self::build) a limiter that decides in this process, because nobody has
    /// chosen another store. A [store](Self::store) of the caller's counts as shared.
    pub fn require_shared(mut self) -> Self {
        self.requires_shared = true;
        self
    }

    /// The name of the service: a part of every key in Redis, so that rules of the same name in two
    /// services do not share budgets by accident. To share some on purpose, give their rules a
    /// [`with_service`](crate::Rule::with_service).
    ///
    /// Keys without a service are other ones: to set it for the first time begins all budgets anew.
    /// An empty name is none.
    pub fn service(mut self, service: impl Into<String>) -> Self {
        self.settings.service = Some(service.into()).filter(|service| !service.trim().is_empty());
        self
    }

    /// Whose time decides; else the store's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = Some(clock);
        self
    }

    /// How long a check may take; else 50 ms. After that the rule's [`OnError`] decides.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.settings.deadline = Some(deadline);
        self
    }

    /// What rules do when the store does not answer, if they do not say it; else
    /// [`OnError::Local`].
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.settings.on_error = Some(on_error);
        self
    }

    /// How many keys the embedded store holds, here and when it stands in for Redis; else 100,000. One
    /// rule has three quarters of them at most.
    pub fn max_keys(mut self, max_keys: usize) -> Self {
        self.settings.max_keys = Some(max_keys.max(1));
        self
    }

    /// How many instances share the limits: [`OnError::Local`] gives each its part; else 1.
    pub fn replicas(mut self, replicas: NonZeroU32) -> Self {
        self.settings.replicas = Some(replicas);
        self
    }

    /// What the names of all keys in Redis begin with; else `rate:limit`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = Some(prefix.into());
        self
    }

    /// The secret for `hash(…)` in keys. All instances need the same.
    pub fn key_secret(mut self, secret: impl Into<Vec<u8>>) -> Self {
        self.settings.key_secret = Some(Bytes::Given(secret.into()));
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
    ///     if event.kind == LimitEventKind::Limited {
    ///         // Hand it over to whoever keeps an account: a channel, a counter.
    ///     }
    /// });
    /// # limiter.build()?;
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// It runs where the call does, after the decision, and cannot change it: the caller waits for it, and
    /// in async code so does whatever shares its thread. When it panics the call goes on. Limited
    /// functions that it calls give no events. Neither do callers who leave before the store has answered.
    pub fn on_event(mut self, hook: impl Fn(&LimitEvent<'_>) + Send + Sync + 'static) -> Self {
        self.events.hook = Some(Arc::new(hook));
        self
    }

    /// Makes the limiter.
    ///
    /// Every setting that is a value has a variable in the environment, which counts where the code is
    /// silent: `RATELIMIT_REDIS_URL`, `RATELIMIT_REDIS_CA` (the path of a file), `RATELIMIT_SERVICE`,
    /// `RATELIMIT_PREFIX`, `RATELIMIT_REPLICAS`, `RATELIMIT_ON_ERROR`, `RATELIMIT_DEADLINE_MS`,
    /// `RATELIMIT_CONNECT_TIMEOUT_MS`, `RATELIMIT_MAX_KEYS`, `RATELIMIT_CLOCK` and
    /// `RATELIMIT_KEY_SECRET_FILE` (the path of a file). Blank is unset, and a wrong value is an error
    /// that names the variable. One line in the log says who has chosen the store.
    ///
    /// `RATELIMIT_MODE=shadow` in the environment makes it watch only: all rules are judged and
    /// counted, and none refuses. With `RATELIMIT_MODE=off` it does not even look.
    pub fn build(self) -> Result<Limiter, ConfigError> {
        let (limiter, start) = self.build_quiet()?;
        start.log();
        Ok(limiter)
    }

    /// The same without a word, and what is to be said.
    pub(super) fn build_quiet(mut self) -> Result<(Limiter, Start), ConfigError> {
        self.settings.fill(|name| env::var_os(name))?;
        self.check()?;
        let (source, chosen_by) = match (self.source.take(), self.settings.redis.take()) {
            (Some(source), url) => (source, ChosenBy::Code { leaves_aside: url.is_some() }),
            (None, Some(url)) => (Source::RedisUrl(url), ChosenBy::Environment),
            (None, None) => (Source::Embedded, ChosenBy::Nobody),
        };
        let blocking = !source.is_driven_by_caller();
        let is_redis = source.is_redis();
        let (store, decides): (Arc<dyn Store>, _) = match source {
            Source::Embedded if self.requires_shared => return Err(ConfigError::NotShared),
            Source::Embedded => (self.embedded_store(), "in this process"),
            Source::Store(store) => (store, "in a store of the caller's"),
            #[cfg(feature = "redis")]
            Source::RedisUrl(url) => (Arc::new(self.open(&url, chosen_by)?), "in Redis"),
            #[cfg(feature = "redis")]
            Source::RedisConnection(connection) => {
                let (prefix, clock) = (self.key_prefix(), self.settings.clock());
                let store = Redis::over(connection, prefix, clock, self.settings.deadline());
                (Arc::new(store), "in Redis, over a connection of the caller's")
            }
            #[cfg(not(feature = "redis"))]
            Source::RedisUrl(_) => {
                return Err(of_url(ConfigError::NoRedisFeature, chosen_by));
            }
        };
        let mode = self.settings.mode.unwrap_or_default();
        let lacks_service = is_redis && self.settings.service.is_none();
        let key_secret = self.settings.key_secret.take().map(Bytes::secret).transpose()?;
        let limiter = self.over(store, is_redis, blocking, mode, key_secret);
        Ok((limiter, Start { chosen_by, decides, lacks_service, mode }))
    }

    /// Finds the mistakes in single settings.
    fn check(&self) -> Result<(), ConfigError> {
        for (setting, time) in [
            ("deadline", self.settings.deadline()),
            ("connect_timeout", self.settings.connect_timeout()),
        ] {
            if time.is_zero() {
                return Err(ConfigError::ZeroTime { setting });
            }
        }
        match check_prefix(self.settings.prefix()) {
            Some(problem) => Err(ConfigError::Prefix { problem }),
            None => Ok(()),
        }
    }

    /// A store on the servers that a URL names.
    #[cfg(feature = "redis")]
    fn open(&mut self, url: &str, chosen_by: ChosenBy) -> Result<Redis, ConfigError> {
        let roots = self.settings.redis_roots.take();
        #[cfg(feature = "tls")]
        let roots_are_of_environment =
            self.tls.roots.is_none() && roots.as_ref().is_some_and(Bytes::is_file);
        #[cfg(feature = "tls")]
        if let (None, Some(roots)) = (&self.tls.roots, roots) {
            self.tls.roots = Some(match roots {
                Bytes::Given(pem) => Pem::Given(pem.into()),
                Bytes::File(file) => Pem::File(file.into()),
            });
        }
        #[cfg(not(feature = "tls"))]
        if roots.is_some() {
            return Err(wrong(REDIS_CA, &ConfigError::NoTlsFeature.to_string()));
        }
        let (password, sentinel_password) = (
            self.settings.redis_password_file.take(),
            self.settings.redis_sentinel_password_file.take(),
        );
        let settings = ConnectSettings {
            connect_timeout: self.settings.connect_timeout(),
            deadline: self.settings.deadline(),
            tls: self.tls.clone(),
            credentials: self.credentials.provider(password, REDIS_PASSWORD_FILE)?,
            sentinel_credentials: self
                .sentinel_credentials
                .provider(sentinel_password, REDIS_SENTINEL_PASSWORD_FILE)?,
        };
        let opened = Redis::open(url, settings, self.key_prefix(), self.settings.clock());
        opened.map_err(|error| match error {
            #[cfg(feature = "tls")]
            ConfigError::Certificates(_) if roots_are_of_environment => {
                wrong(REDIS_CA, &error.to_string())
            }
            // Neither is about the URL.
            ConfigError::Certificates(_) | ConfigError::Thread => error,
            error => of_url(error, chosen_by),
        })
    }

    /// How keys in Redis are named.
    #[cfg(feature = "redis")]
    fn key_prefix(&self) -> KeyPrefix {
        let prefix = self.settings.prefix();
        KeyPrefix::new(prefix, self.settings.service.as_deref())
    }

    /// For tests: see [`testing::limiter`](crate::testing::limiter).
    #[cfg(feature = "testing")]
    pub(crate) fn auto_advance(mut self) -> Self {
        self.auto_advance = true;
        self
    }

    /// A limiter that decides in this process, whatever the environment says, without a key secret.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn in_process(self, mode: Mode) -> Limiter {
        let store = self.embedded_store();
        self.over(store, false, true, mode, None)
    }

    fn embedded_store(&self) -> Arc<Embedded> {
        Arc::new(
            Embedded::new()
                .with_max_keys(self.settings.max_keys())
                .with_clock(self.settings.clock()),
        )
    }

    fn over(
        self,
        store: Arc<dyn Store>,
        is_redis: bool,
        blocking: bool,
        mode: Mode,
        key_secret: Option<Box<[u8]>>,
    ) -> Limiter {
        let (max_keys, clock) = (self.settings.max_keys(), self.settings.clock());
        let replicas = self.settings.replicas.unwrap_or(NonZeroU32::MIN);
        let fallback = Fallback::new(max_keys, clock, replicas);
        let shared = Shared {
            store,
            is_redis,
            blocking,
            clock: self.settings.clock(),
            deadline: self.settings.deadline(),
            on_error: self.settings.on_error.unwrap_or_default(),
            service: self.settings.service.map(Into::into),
            mode,
            fallback,
            outages: OutageLog::new(),
            latency: Latency::new(),
            events: self.events,
            resets: super::resets::Resets::default(),
            auto_advance: self.auto_advance,
            key_secret,
        };
        Limiter { shared: Arc::new(shared) }
    }
}

/// What is wrong with a URL, with the variable that it comes from.
fn of_url(error: ConfigError, chosen_by: ChosenBy) -> ConfigError {
    match chosen_by {
        ChosenBy::Environment => wrong(REDIS_URL, &error.to_string()),
        ChosenBy::Code { .. } | ChosenBy::Nobody => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_shown() {
        let builder = Limiter::builder().redis("redis://app:S3cr3t@host").key_secret("S3cr3t");
        assert!(!format!("{builder:?}").contains("S3cr3t"));
    }

    #[test]
    fn every_mistake_in_a_setting_says_which_one() {
        let error = |builder: LimiterBuilder| builder.build().unwrap_err().to_string();
        let builder = Limiter::builder;
        assert_eq!(
            error(builder().deadline(Duration::ZERO)),
            "`deadline` must be longer than zero"
        );
        let zero = error(builder().connect_timeout(Duration::ZERO));
        assert_eq!(zero, "`connect_timeout` must be longer than zero");
        for (prefix, problem) in [
            ("", "is empty"),
            ("a{b", "has a brace"),
            ("a b", "has a blank"),
            ("a\u{1b}b", "has a control character"),
            (&*"p".repeat(65), "is longer than 64 bytes"),
        ] {
            let error = error(builder().prefix(prefix));
            assert!(error.starts_with(&format!("the key prefix {problem}")), "{error}");
        }
    }

    #[cfg(not(feature = "redis"))]
    #[test]
    fn a_url_needs_its_feature() {
        let error = Limiter::builder().redis("redis://S3cr3t@host").build().unwrap_err();
        assert_eq!(error, ConfigError::NoRedisFeature);
        let error = of_url(error, ChosenBy::Environment).to_string();
        assert!(error.starts_with("RATELIMIT_REDIS_URL: "), "{error}");
    }

    #[test]
    fn what_must_be_shared_is_not_embedded() {
        let shared = || Limiter::builder().require_shared();
        for builder in [shared(), shared().embedded()] {
            assert_eq!(builder.build().unwrap_err(), ConfigError::NotShared);
        }
        assert!(shared().store(Embedded::new()).build().is_ok(), "a store of the caller's");
    }
}
