//! A server's address, the login there, and whether it makes sense to try again.
//!
//! A refused login, a wrong certificate or an old version does not get better within a second. Such a
//! failure is remembered here, where every attempt passes: an attempt that comes too early gets the
//! reason again, and the server hears nothing.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use parking_lot::Mutex;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{ConnectionAddr, ConnectionInfo, ProtocolVersion, RedisError};
use tokio::time::Instant;

use super::backoff::Backoff;
use super::credentials::Provider;
use super::failure::{self, SetupStep};
use super::tls::Tls;
use crate::error::StoreError;

/// The backoff after a failure that lasts.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30), 0.25);

/// While a login is refused, how often the provider of credentials and the files with certificates are
/// looked at again.
const RECHECK_AFTER: Duration = Duration::from_secs(1);

/// The kernel checks a connection that has been idle for the first of these, and again after each of the
/// second. That is only a safety net: a connection to a server that decides is probed every second.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// A server.
pub(super) struct Endpoint {
    info: ConnectionInfo,
    /// Has newer credentials than `info`.
    provider: Option<Provider>,
    /// Whether another server has named it. A replica there has not heard of its promotion yet, or the name
    /// is soon corrected.
    pub(super) is_discovered: bool,
    lasting: Mutex<LastingFailure>,
    hasher: RandomState,
}

/// A failure that will not go away by itself.
#[derive(Debug)]
struct LastingFailure {
    /// Until when there is no other attempt, and why. `None`: the latest attempt did not fail like that.
    blocked: Option<(Instant, StoreError)>,
    backoff: Backoff,
    /// A hash of the credentials and certificates of the latest attempt.
    tried: u64,
    /// When it was last compared with those that there are.
    compared: Instant,
    /// Whether an attempt has ever succeeded.
    succeeded: bool,
}

/// What one attempt to connect is made with.
pub(super) struct AttemptSettings {
    pub(super) info: ConnectionInfo,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<super::tls::Config>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the login.
        f.debug_struct("Endpoint").field("address", &self.name()).finish_non_exhaustive()
    }
}

impl Endpoint {
    pub(super) fn new(
        info: ConnectionInfo,
        provider: Option<Provider>,
        is_discovered: bool,
    ) -> Self {
        // The server does not learn which library this is: that would take a permission, and old servers
        // count it as an error. RESP3 begins with a command that proxies may not know.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        let login = login.set_protocol(ProtocolVersion::RESP2);
        let info = info.set_redis_settings(login).set_tcp_settings(tcp());
        let lasting = Mutex::new(LastingFailure {
            blocked: None,
            backoff: BACKOFF,
            tried: 0,
            compared: Instant::now(),
            succeeded: false,
        });
        Self { info, provider, is_discovered, lasting, hasher: RandomState::new() }
    }

    pub(super) fn address(&self) -> &ConnectionAddr {
        self.info.addr()
    }

    /// What to call it in a message.
    pub(super) fn name(&self) -> String {
        failure::name(self.address())
    }

    /// What the next attempt is made with, or why there must be none yet. Credentials may take this long to
    /// be found.
    pub(super) async fn next_attempt(
        &self,
        limit: Duration,
        tls: &Tls,
    ) -> Result<AttemptSettings, StoreError> {
        let can_change = self.provider.is_some() || tls.can_change();
        if let Some(error) = self.blocked(can_change) {
            return Err(error);
        }
        let credentials = match &self.provider {
            None => None,
            Some(provider) => {
                let found = provider.ask(limit).await;
                Some(found.map_err(|why| StoreError::Permission {
                    reason: format!("{}: there are no credentials: {why}", self.name()),
                })?)
            }
        };
        #[cfg(feature = "tls")]
        let tls = match self.address() {
            ConnectionAddr::TcpTls { .. } => {
                let tls = tls.clone();
                // Reads files, among them those of the system.
                let read = tokio::task::spawn_blocking(move || tls.config()).await;
                Some(read.map_err(|_| self.timed_out_connecting())??)
            }
            _ => None,
        };
        #[cfg(feature = "tls")]
        let tried = self.hasher.hash_one((&credentials, tls.as_ref().map(|tls| &tls.made_of)));
        #[cfg(not(feature = "tls"))]
        let tried = self.hasher.hash_one(&credentials);
        let mut lasting = self.lasting.lock();
        lasting.compared = Instant::now();
        if lasting.tried != tried {
            // Not what was refused.
            lasting.tried = tried;
            lasting.backoff.reset();
        } else if let Some((until, error)) = &lasting.blocked
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        let login = self.info.redis_settings().clone();
        let login = match &credentials {
            None => login,
            Some(credentials) => credentials.applied_to(login),
        };
        Ok(AttemptSettings {
            info: self.info.clone().set_redis_settings(login),
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// Why there must be no attempt, if nothing can have changed.
    fn blocked(&self, can_change: bool) -> Option<StoreError> {
        let lasting = self.lasting.lock();
        let (until, error) = lasting.blocked.as_ref()?;
        let now = Instant::now();
        let is_early = now < *until && (!can_change || now < lasting.compared + RECHECK_AFTER);
        is_early.then(|| error.clone())
    }

    /// An attempt has succeeded.
    pub(super) fn succeeded(&self) {
        let mut lasting = self.lasting.lock();
        lasting.blocked = None;
        lasting.backoff.reset();
        lasting.succeeded = true;
    }

    /// Whether an attempt has ever succeeded.
    pub(super) fn has_succeeded(&self) -> bool {
        self.lasting.lock().succeeded
    }

    /// An attempt has failed for a reason that lasts: blocks those that would come too early.
    pub(super) fn block(&self, error: StoreError) -> StoreError {
        let mut lasting = self.lasting.lock();
        let delay = lasting.backoff.next_delay();
        lasting.blocked = Some((Instant::now() + delay, error.clone()));
        error
    }

    /// The error of an attempt to connect, or of one step of it. One that lasts blocks further attempts.
    pub(super) fn failed(&self, error: &RedisError, step: Option<SetupStep>) -> StoreError {
        let reason = failure::of_connecting(error, step, self.address());
        if failure::is_lasting(error) { self.block(reason) } else { reason }
    }

    /// The error of a step that took too long.
    pub(super) fn timed_out(&self, step: SetupStep) -> StoreError {
        StoreError::Connection { reason: format!("{}: {step}: timed out", self.name()) }
    }

    /// The error of a connection that took too long.
    pub(super) fn timed_out_connecting(&self) -> StoreError {
        let has_login = self.provider.is_some() || self.info.redis_settings().password().is_some();
        let login = if has_login { " or logging in" } else { "" };
        let reason = format!("{}: timed out while connecting{login}", self.name());
        StoreError::Connection { reason }
    }
}

/// Decisions are small, frequent and urgent messages. Without `TCP_NODELAY` each waits until the one before
/// it is acknowledged, which costs a round trip.
fn tcp() -> TcpSettings {
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE.0);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keep_alive = keep_alive.with_interval(KEEP_ALIVE.1);
    TcpSettings::default().set_nodelay(true).set_keepalive(keep_alive)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use redis::IntoConnectionInfo as _;

    use super::*;
    use crate::store::redis::credentials::RedisCredentials;

    fn endpoint(provider: Option<Provider>) -> Endpoint {
        let info = "redis://app:pw@host/2".into_connection_info().unwrap();
        Endpoint::new(info, provider, false)
    }

    async fn next_attempt(endpoint: &Endpoint) -> Result<AttemptSettings, StoreError> {
        endpoint.next_attempt(Duration::from_secs(1), &Tls::default()).await
    }

    /// In a runtime whose clock moves by itself.
    fn run<T>(test: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(test)
    }

    fn refused() -> StoreError {
        StoreError::Permission { reason: "refused".to_owned() }
    }

    /// When an attempt is made, in milliseconds, by somebody who tries every 50 ms and is refused.
    async fn attempts(endpoint: &Endpoint, within: Duration) -> Vec<u64> {
        let start = Instant::now();
        let mut attempts = Vec::new();
        while start.elapsed() < within {
            if next_attempt(endpoint).await.is_ok() {
                attempts.push(u64::try_from(start.elapsed().as_millis()).unwrap());
                endpoint.block(refused());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        attempts
    }

    #[test]
    fn the_backoff_grows_from_one_second_to_thirty() {
        let attempts = run(async { attempts(&endpoint(None), Duration::from_mins(3)).await });
        let delays: Vec<u64> = attempts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (delay, seconds) in delays.iter().zip([1, 2, 4, 8, 16, 30, 30, 30]) {
            assert!((seconds * 750..=seconds * 1_000 + 100).contains(delay), "{delays:?}");
        }
        assert!(delays.len() >= 7, "{delays:?}");
    }

    #[test]
    fn new_credentials_end_the_backoff_and_the_same_ones_do_not() {
        let (password, asked) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (now, count) = (password.clone(), asked.clone());
        let provider = Provider::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Some(RedisCredentials::password(now.load(Ordering::Relaxed).to_string()))
        });
        let endpoint = endpoint(Some(provider));
        run(async {
            let made = attempts(&endpoint, Duration::from_secs(20)).await;
            assert!((4..=6).contains(&made.len()), "{made:?}");
            // Once a second.
            let asked = asked.load(Ordering::Relaxed);
            assert!((15..=26).contains(&asked), "asked {asked} times");
            password.store(1, Ordering::Relaxed);
            let made = attempts(&endpoint, Duration::from_millis(3_500)).await;
            // At once, or when the provider is next asked; then the backoff starts over.
            assert!(made[0] <= 1_100 && (2..=3).contains(&made.len()), "{made:?}");
        });
    }

    #[test]
    fn a_success_forgets_the_failure() {
        run(async {
            let endpoint = endpoint(None);
            assert!(next_attempt(&endpoint).await.is_ok() && !endpoint.has_succeeded());
            endpoint.block(refused());
            assert_eq!(next_attempt(&endpoint).await.err(), Some(refused()));
            endpoint.succeeded();
            assert!(next_attempt(&endpoint).await.is_ok() && endpoint.has_succeeded());
        });
    }

    #[test]
    fn messages_go_out_at_once() {
        let settings = run(async { next_attempt(&endpoint(None)).await.ok().unwrap() });
        let tcp = settings.info.tcp_settings();
        assert!(tcp.nodelay() && tcp.keepalive().is_some());
        assert_eq!(settings.info.redis_settings().db(), 2);
    }

    #[test]
    fn a_login_is_not_shown() {
        assert_eq!(format!("{:?}", endpoint(None)), r#"Endpoint { address: "host:6379", .. }"#);
    }
}
