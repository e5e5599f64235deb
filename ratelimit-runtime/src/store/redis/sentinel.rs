//! Asks Sentinels for the primary that they watch under a name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection as Link;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dial::Dial;
use super::endpoint::Endpoint;
use super::failure::{self, SetupStep};
use crate::error::StoreError;

/// How long one Sentinel may take to answer. All are asked at the same time.
const SENTINEL_TIMEOUT: Duration = Duration::from_millis(300);

/// The Sentinels that watch one primary.
#[derive(Debug)]
pub(super) struct Sentinels {
    all: Vec<Arc<Sentinel>>,
    /// The name of the primary.
    name: Arc<str>,
    login: RedisConnectionInfo,
    tls: bool,
    /// The primary that was found last: its endpoint, with the failures that it remembers, is used for as long
    /// as the same primary is found.
    latest: Mutex<Option<(Primary, Arc<Endpoint>)>>,
}

/// One Sentinel.
#[derive(Debug)]
struct Sentinel {
    endpoint: Endpoint,
    /// Kept open, since it is asked again and again.
    link: Mutex<Option<Link>>,
}

/// A primary, as Sentinels name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Primary {
    host: String,
    port: u16,
    /// Rises with every failover. 0 if the Sentinel does not say.
    epoch: u64,
}

impl Sentinels {
    pub(super) fn new(
        sentinels: Vec<redis::ConnectionInfo>,
        name: &str,
        login: RedisConnectionInfo,
        tls: bool,
        dial: &Dial,
    ) -> Self {
        let sentinel = |info| {
            let endpoint = Endpoint::new(info, dial.sentinel_provider.clone(), false);
            Arc::new(Sentinel { endpoint, link: Mutex::new(None) })
        };
        let all = sentinels.into_iter().map(sentinel).collect();
        Self { all, name: name.into(), login, tls, latest: Mutex::new(None) }
    }

    /// The name of the primary.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where a primary is reached.
    pub(super) fn endpoint(
        &self,
        primary: &Primary,
        dial: &Dial,
    ) -> Result<Arc<Endpoint>, StoreError> {
        let mut latest = self.latest.lock();
        if let Some((known, endpoint)) = &*latest
            && known.is_at(primary)
        {
            return Ok(endpoint.clone());
        }
        let endpoint = dial.endpoint_at(&primary.host, primary.port, self.tls, &self.login)?;
        let endpoint = Arc::new(endpoint);
        *latest = Some((primary.clone(), endpoint.clone()));
        Ok(endpoint)
    }

    /// The primary. Waits until more than half of the Sentinels have answered, or all that will, and takes the
    /// answer of the highest epoch: a Sentinel that has lost touch with the others may name an old primary.
    pub(super) async fn find(&self, dial: &Arc<Dial>) -> Result<Primary, StoreError> {
        let mut asking = JoinSet::new();
        for sentinel in &self.all {
            let (sentinel, name, dial) = (sentinel.clone(), self.name.clone(), dial.clone());
            asking.spawn(async move { sentinel.ask(&name, &dial).await });
        }
        let mut latest: Option<Primary> = None;
        let mut failure = StoreError::Connection { reason: "no Sentinel is known".to_owned() };
        let mut answers = 0;
        while answers <= self.all.len() / 2
            && let Some(asked) = asking.join_next().await
        {
            match asked {
                Ok(Ok(primary)) => {
                    answers += 1;
                    if latest.as_ref().is_none_or(|latest| latest.epoch < primary.epoch) {
                        latest = Some(primary);
                    }
                }
                // An error that a Sentinel answers with says more than that another one does not answer.
                Ok(Err(error)) if !matches!(error, StoreError::Connection { .. }) => {
                    failure = error;
                }
                Ok(Err(error)) if matches!(failure, StoreError::Connection { .. }) => {
                    failure = error;
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
        latest.ok_or(failure)
    }

    /// Whether there is another primary by now. Not if no Sentinel answers, or only some with a lower epoch.
    pub(super) async fn has_moved(&self, from: &Primary, dial: &Arc<Dial>) -> bool {
        let Ok(now) = self.find(dial).await else { return false };
        now.epoch >= from.epoch && !now.is_at(from)
    }
}

impl Primary {
    /// Whether both are at one address.
    fn is_at(&self, other: &Self) -> bool {
        (&self.host, self.port) == (&other.host, other.port)
    }
}

impl Sentinel {
    async fn ask(&self, name: &str, dial: &Dial) -> Result<Primary, StoreError> {
        let open = self.link.lock().clone();
        let asked = timeout(SENTINEL_TIMEOUT, self.ask_over(open, name, dial)).await;
        let asked = asked.unwrap_or_else(|_| {
            let address = self.endpoint.address();
            let reason = format!("the Sentinel at {address} did not answer");
            Err(StoreError::Connection { reason })
        });
        if asked.is_err() {
            *self.link.lock() = None;
        }
        asked
    }

    async fn ask_over(
        &self,
        link: Option<Link>,
        name: &str,
        dial: &Dial,
    ) -> Result<Primary, StoreError> {
        let address = self.endpoint.address();
        let mut link = match link {
            Some(link) => link,
            None => dial.open(&self.endpoint).await?,
        };
        let failed = |error| self.endpoint.failed(&error, Some(SetupStep::PRIMARY));
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
        let answer = command.query_async::<Option<(String, u16)>>(&mut link).await;
        let (host, port) = answer.map_err(failed)?.ok_or_else(|| {
            let reason = format!("the Sentinel at {address} knows no `{name}`");
            StoreError::Server { reason }
        })?;
        command = redis::cmd("SENTINEL");
        command.arg("MASTER").arg(name);
        let fields = command.query_async::<HashMap<String, String>>(&mut link).await;
        let epoch = match fields {
            Ok(fields) => fields.get("config-epoch").and_then(|epoch| epoch.parse().ok()),
            // It can be done without.
            Err(error) if failure::is_tolerable(&error) => None,
            Err(error) => return Err(failed(error)),
        };
        self.endpoint.succeeded();
        *self.link.lock() = Some(link);
        Ok(Primary { host, port, epoch: epoch.unwrap_or(0) })
    }
}
