//! A server's address, as whom to log in there, and whether it makes sense to try again.
//!
//! What is wrong with a login, a certificate or a version does not mend itself within a second. It is
//! remembered here, by the one place that all attempts go through: whoever asks again too early
//! gets the reason without a word to the server.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use parking_lot::Mutex;
use redis::{ConnectionAddr, ConnectionInfo, RedisConnectionInfo, RedisError};
use tokio::time::Instant;

use super::credentials::{Credentials, Provider};
use super::dial::Dial;
use super::failure::{self, Question};
use crate::error::StoreError;

/// The pauses after a failure that lasts grow from the first of these to the second.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// How often whoever has credentials and certificates is asked whether they have changed, while
/// those that there were are refused.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// As whom to log in: what the URL says, and a provider that knows better.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) settings: RedisConnectionInfo,
    pub(super) provider: Option<Provider>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

/// A server.
#[derive(Debug)]
pub(super) struct Endpoint {
    info: ConnectionInfo,
    login: Login,
    /// Whether another server has named it. Then a replica there is one that has not heard of its
    /// promotion, or a name that is soon corrected.
    pub(super) is_named: bool,
    lasting: Mutex<Lasting>,
    hasher: RandomState,
}

/// A failure that lasts.
#[derive(Debug)]
struct Lasting {
    /// Until when there is no other attempt, and why. `None`: the latest attempt did not fail so.
    held_back: Option<(Instant, StoreError)>,
    /// The next pause.
    pause: Duration,
    /// What was tried, and when it was last compared with what there is.
    tried: u64,
    compared: Instant,
    /// Whether the server was ever of use.
    worked: bool,
}

/// What one attempt is made with.
pub(super) struct Means {
    pub(super) info: ConnectionInfo,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<super::tls::Config>,
}

impl Endpoint {
    pub(super) fn new(info: ConnectionInfo, login: Login, is_named: bool) -> Self {
        let lasting = Lasting {
            held_back: None,
            pause: SHORTEST,
            tried: 0,
            compared: Instant::now(),
            worked: false,
        };
        let (lasting, hasher) = (Mutex::new(lasting), RandomState::new());
        Self { info, login, is_named, lasting, hasher }
    }

    pub(super) fn address(&self) -> &ConnectionAddr {
        self.info.addr()
    }

    /// What to call it in a message.
    pub(super) fn name(&self) -> String {
        failure::name(self.address())
    }

    /// What an attempt is made with, unless it is too early for one.
    pub(super) async fn means(&self, dial: &Dial) -> Result<Means, StoreError> {
        let can_change = self.login.provider.is_some() || dial.tls.can_change();
        if let Some(error) = self.held_back(can_change) {
            return Err(error);
        }
        let credentials = match &self.login.provider {
            None => None,
            Some(provider) => {
                let asked = provider.ask(dial.connect_timeout).await;
                Some(asked.map_err(|why| StoreError::Permission {
                    reason: format!("{}: there are no credentials: {why}", self.name()),
                })?)
            }
        };
        #[cfg(feature = "tls")]
        let tls = match self.address() {
            ConnectionAddr::TcpTls { .. } => {
                let tls = dial.tls.clone();
                // Files, among them those of the system.
                let read = tokio::task::spawn_blocking(move || tls.config()).await;
                Some(read.map_err(|_| self.timed_out_connecting())??)
            }
            _ => None,
        };
        #[cfg(feature = "tls")]
        let print = self.print(credentials.as_ref(), tls.as_ref().map(|tls| &tls.made_of));
        #[cfg(not(feature = "tls"))]
        let print = self.print(credentials.as_ref());
        let mut lasting = self.lasting.lock();
        lasting.compared = Instant::now();
        if lasting.tried != print {
            // Something else than what was refused.
            lasting.tried = print;
            lasting.pause = SHORTEST;
        } else if let Some((until, error)) = &lasting.held_back
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        let settings = self.login.settings.clone();
        let settings = match &credentials {
            None => settings,
            Some(credentials) => credentials.applied_to(settings),
        };
        Ok(Means {
            info: self.info.clone().set_redis_settings(settings),
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// Why there should be no attempt, if nothing can have changed.
    fn held_back(&self, can_change: bool) -> Option<StoreError> {
        let lasting = self.lasting.lock();
        let (until, error) = lasting.held_back.as_ref()?;
        let now = Instant::now();
        let is_early = now < *until && (!can_change || now < lasting.compared + ASK_AGAIN);
        is_early.then(|| error.clone())
    }

    fn print(
        &self,
        credentials: Option<&Credentials>,
        #[cfg(feature = "tls")] tls: Option<&[Option<std::sync::Arc<[u8]>>; 3]>,
    ) -> u64 {
        #[cfg(feature = "tls")]
        return self.hasher.hash_one((credentials, tls));
        #[cfg(not(feature = "tls"))]
        self.hasher.hash_one(credentials)
    }

    /// The server is of use.
    pub(super) fn works(&self) {
        let mut lasting = self.lasting.lock();
        lasting.held_back = None;
        lasting.pause = SHORTEST;
        lasting.worked = true;
    }

    /// Whether the server was ever of use.
    pub(super) fn has_worked(&self) -> bool {
        self.lasting.lock().worked
    }

    /// The attempt failed for a reason that lasts.
    pub(super) fn hold_back(&self, error: StoreError) -> StoreError {
        let mut lasting = self.lasting.lock();
        // A little shorter by chance, so that instances do not all come back together.
        let pause = lasting.pause.mul_f64(0.75 + fastrand::f64() / 4.0);
        lasting.held_back = Some((Instant::now() + pause, error.clone()));
        lasting.pause = (lasting.pause * 2).min(LONGEST);
        error
    }

    /// The error of an attempt to connect, or of a question that is a part of it. One that lasts is
    /// remembered.
    pub(super) fn failed(&self, error: &RedisError, question: Option<Question>) -> StoreError {
        let why = failure::while_connecting(error, question, self.address());
        if failure::is_lasting(error) { self.hold_back(why) } else { why }
    }

    /// A question was not answered in time.
    pub(super) fn timed_out(&self, question: Question) -> StoreError {
        StoreError::Connection { reason: format!("{}: {question}: timed out", self.name()) }
    }

    /// There was no connection in time.
    pub(super) fn timed_out_connecting(&self) -> StoreError {
        let has_login = self.login.provider.is_some() || self.login.settings.password().is_some();
        let login = if has_login { " or logging in" } else { "" };
        let reason = format!("{}: timed out while connecting{login}", self.name());
        StoreError::Connection { reason }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use redis::IntoConnectionInfo as _;

    use super::*;
    use crate::store::redis::dial;

    fn endpoint(provider: Option<Provider>) -> Endpoint {
        let info = "redis://app:pw@host".into_connection_info().unwrap();
        dial::endpoint_as(info, provider, false)
    }

    /// In a runtime whose time passes by itself.
    fn run<T>(test: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(test)
    }

    fn refused() -> StoreError {
        StoreError::Permission { reason: "refused".to_owned() }
    }

    /// When an attempt is made, in milliseconds, by somebody who tries every 50 ms and is refused.
    async fn attempts(endpoint: &Endpoint, within: Duration) -> Vec<u64> {
        let (dial, start) = (Dial::for_tests(), Instant::now());
        let mut attempts = Vec::new();
        while start.elapsed() < within {
            if endpoint.means(&dial).await.is_ok() {
                attempts.push(u64::try_from(start.elapsed().as_millis()).unwrap());
                endpoint.hold_back(refused());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        attempts
    }

    #[test]
    fn pauses_grow_from_one_second_to_thirty() {
        let attempts = run(async { attempts(&endpoint(None), Duration::from_mins(3)).await });
        let pauses: Vec<u64> = attempts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (pause, seconds) in pauses.iter().zip([1, 2, 4, 8, 16, 30, 30, 30]) {
            assert!((seconds * 750..=seconds * 1_000 + 100).contains(pause), "{pauses:?}");
        }
        assert!(pauses.len() >= 7, "{pauses:?}");
    }

    #[test]
    fn other_credentials_end_a_pause_and_the_same_ones_do_not() {
        let (password, asked) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (now, count) = (password.clone(), asked.clone());
        let provider = Provider::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Some(Credentials::password(now.load(Ordering::Relaxed).to_string()))
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
            // At once, or at the next question; and then the pauses begin anew.
            assert!(made[0] <= 1_100 && (2..=3).contains(&made.len()), "{made:?}");
        });
    }

    #[test]
    fn a_server_that_works_again_has_no_past() {
        run(async {
            let (endpoint, dial) = (endpoint(None), Dial::for_tests());
            assert!(endpoint.means(&dial).await.is_ok() && !endpoint.has_worked());
            endpoint.hold_back(refused());
            assert_eq!(endpoint.means(&dial).await.err(), Some(refused()));
            endpoint.works();
            assert!(endpoint.means(&dial).await.is_ok() && endpoint.has_worked());
        });
    }
}
