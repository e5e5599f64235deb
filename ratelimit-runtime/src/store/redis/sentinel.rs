//! Asks Sentinels for the primary of a name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection as Link;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dial::{self, Dial};
use super::endpoint::Endpoint;
use super::failure::{self, Question};
use crate::error::StoreError;

/// How long one Sentinel may take to answer. Others are asked at the same time.
const PATIENCE: Duration = Duration::from_millis(300);

/// Some Sentinels that watch one primary.
#[derive(Debug)]
pub(super) struct Sentinels {
    all: Vec<Arc<Sentinel>>,
    primary: Arc<str>,
    login: RedisConnectionInfo,
    tls: bool,
    /// The latest one: what is known of it holds for as long as it is found again.
    latest: Mutex<Option<(Found, Arc<Endpoint>)>>,
}

/// One of them.
#[derive(Debug)]
struct Sentinel {
    endpoint: Endpoint,
    /// Kept, since it is asked again and again.
    link: Mutex<Option<Link>>,
}

/// Where the primary is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    host: String,
    port: u16,
    /// Every failover has a higher one than those before, if the Sentinel tells it.
    epoch: u64,
}

impl Sentinels {
    pub(super) fn new(
        sentinels: Vec<redis::ConnectionInfo>,
        primary: &str,
        login: RedisConnectionInfo,
        tls: bool,
        dial: &Dial,
    ) -> Self {
        let sentinel = |info| {
            let endpoint = dial::endpoint_as(info, dial.sentinel_provider.clone(), false);
            Arc::new(Sentinel { endpoint, link: Mutex::new(None) })
        };
        let all = sentinels.into_iter().map(sentinel).collect();
        Self { all, primary: primary.into(), login, tls, latest: Mutex::new(None) }
    }

    /// What to call them in a message.
    pub(super) fn name(&self) -> &str {
        &self.primary
    }

    /// The primary that was found.
    pub(super) fn endpoint(&self, found: &Found, dial: &Dial) -> Result<Arc<Endpoint>, StoreError> {
        let mut latest = self.latest.lock();
        if let Some((known, endpoint)) = &*latest
            && (&known.host, known.port) == (&found.host, found.port)
        {
            return Ok(endpoint.clone());
        }
        let endpoint = dial.endpoint_at(&found.host, found.port, self.tls, &self.login)?;
        let endpoint = Arc::new(endpoint);
        *latest = Some((found.clone(), endpoint.clone()));
        Ok(endpoint)
    }

    /// The primary, as more than half of the Sentinels say that answer in time, or as many as do.
    /// One that has lost touch with the others may name the wrong server: what it knows is older.
    pub(super) async fn find(&self, dial: &Arc<Dial>) -> Result<Found, StoreError> {
        let mut asking = JoinSet::new();
        for sentinel in &self.all {
            let (sentinel, primary, dial) = (sentinel.clone(), self.primary.clone(), dial.clone());
            asking.spawn(async move { sentinel.ask(&primary, &dial).await });
        }
        let mut found: Option<Found> = None;
        let mut failure = StoreError::Connection { reason: "no Sentinel is known".to_owned() };
        let mut answers = 0;
        while answers <= self.all.len() / 2
            && let Some(asked) = asking.join_next().await
        {
            match asked {
                Ok(Ok(told)) => {
                    answers += 1;
                    if found.as_ref().is_none_or(|found| found.epoch < told.epoch) {
                        found = Some(told);
                    }
                }
                // What one says is worth more than that another says nothing.
                Ok(Err(error)) if !matches!(error, StoreError::Connection { .. }) => {
                    failure = error;
                }
                Ok(Err(error)) if matches!(failure, StoreError::Connection { .. }) => {
                    failure = error;
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
        found.ok_or(failure)
    }

    /// Whether the primary is another one now. That nobody answers, or only those who know less,
    /// changes nothing.
    pub(super) async fn has_moved(&self, from: &Found, dial: &Arc<Dial>) -> bool {
        let Ok(now) = self.find(dial).await else { return false };
        now.epoch >= from.epoch && (&now.host, now.port) != (&from.host, from.port)
    }
}

impl Sentinel {
    async fn ask(&self, primary: &str, dial: &Dial) -> Result<Found, StoreError> {
        let known = self.link.lock().clone();
        let asked = timeout(PATIENCE, self.ask_over(known, primary, dial)).await;
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
        primary: &str,
        dial: &Dial,
    ) -> Result<Found, StoreError> {
        let address = self.endpoint.address();
        let mut link = match link {
            Some(link) => link,
            None => dial.open(&self.endpoint).await?,
        };
        let failed = |error| self.endpoint.failed(&error, Some(Question::PRIMARY));
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(primary);
        let answer = command.query_async::<Option<(String, u16)>>(&mut link).await;
        let (host, port) = answer.map_err(failed)?.ok_or_else(|| {
            let reason = format!("the Sentinel at {address} knows no `{primary}`");
            StoreError::Server { reason }
        })?;
        command = redis::cmd("SENTINEL");
        command.arg("MASTER").arg(primary);
        let known = command.query_async::<HashMap<String, String>>(&mut link).await;
        let epoch = match known {
            Ok(known) => known.get("config-epoch").and_then(|epoch| epoch.parse().ok()),
            // It is good to know, and no more.
            Err(error) if failure::is_no_obstacle(&error) => None,
            Err(error) => return Err(failed(error)),
        };
        self.endpoint.works();
        *self.link.lock() = Some(link);
        Ok(Found { host, port, epoch: epoch.unwrap_or(0) })
    }
}
