//! Keeps a connection to one server.
//!
//! A task on the [driver](crate::driver) owns the connecting: it tries again with growing pauses
//! until it succeeds, and when a caller reports that the connection is lost, it starts over. Callers
//! only look at the connection that is there, or wait for the first one within their deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection as Link;
use redis::{AsyncConnectionConfig, Client};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::failure::{self, Remedy};
use crate::driver;
use crate::error::{ConfigError, StoreError};

/// How long one attempt to connect may take: far longer than a check, which does not wait for it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The pauses between attempts grow from the first of these to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A connection over which so many calls in a row got no answer, and none for so long, is replaced:
/// a black hole looks just like a slow server.
const SILENCE: (u32, Duration) = (3, Duration::from_millis(200));

/// Where a store's connection comes from.
#[derive(Debug)]
pub(super) enum Supervisor {
    /// A task keeps one, and is told the number of one that is lost.
    Kept { current: watch::Receiver<Current>, lost: mpsc::UnboundedSender<u64>, task: AbortHandle },
    /// The caller handed one in, and it is never replaced.
    Given(Connection),
}

/// The connection that is there, or why there is none.
#[derive(Clone, Debug)]
pub(super) enum Current {
    Starting,
    Up(Connection),
    Down(StoreError),
}

/// A connection, its number, and what is known of its health.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    link: Link,
    number: u64,
    health: Arc<Health>,
}

#[derive(Debug)]
struct Health {
    since: Instant,
    /// Milliseconds after `since` of the latest answer.
    answered_ms: AtomicU32,
    /// Calls without an answer since then.
    unanswered: AtomicU32,
}

impl Connection {
    fn new(link: Link, number: u64) -> Self {
        let health = Health {
            since: Instant::now(),
            answered_ms: AtomicU32::new(0),
            unanswered: AtomicU32::new(0),
        };
        Self { link, number, health: Arc::new(health) }
    }
}

impl Health {
    fn elapsed_ms(&self) -> u32 {
        u32::try_from(self.since.elapsed().as_millis()).unwrap_or(u32::MAX)
    }

    fn answered(&self) {
        // Under load nearly every call finds nothing to reset, and then writes nothing shared but
        // the time, and that only as often as it changes.
        if self.unanswered.load(Ordering::Relaxed) > 0 {
            self.unanswered.store(0, Ordering::Relaxed);
        }
        let now = self.elapsed_ms();
        if self.answered_ms.load(Ordering::Relaxed) != now {
            self.answered_ms.store(now, Ordering::Relaxed);
        }
    }

    /// Counts a call without an answer; whether the connection should be replaced.
    fn unanswered(&self) -> bool {
        let (calls, silence) = SILENCE;
        let silent = self.elapsed_ms().saturating_sub(self.answered_ms.load(Ordering::Relaxed));
        self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= calls
            && u128::from(silent) >= silence.as_millis()
    }
}

impl Supervisor {
    /// Starts to connect to the server that a URL names.
    pub(super) fn start(url: &str) -> Result<Self, ConfigError> {
        let client = Client::open(url).map_err(|_| ConfigError::RedisUrl)?;
        let (publish, current) = watch::channel(Current::Starting);
        let (lost, reports) = mpsc::unbounded_channel();
        let task = driver::handle()?.spawn(keep(client, publish, reports)).abort_handle();
        Ok(Self::Kept { current, lost, task })
    }

    /// Uses a connection that somebody else keeps.
    pub(super) fn given(link: Link) -> Self {
        Self::Given(Connection::new(link, 0))
    }

    /// The connection that is there; waits for the first one. When the last attempt failed, that
    /// is said at once: there is a pause before the next.
    pub(super) async fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { current, .. } => {
                if let Current::Up(connection) = &*current.borrow() {
                    return Ok(connection.clone());
                }
                let mut current = current.clone();
                let known = current.wait_for(|current| !matches!(current, Current::Starting)).await;
                match known.as_deref() {
                    Ok(Current::Up(connection)) => Ok(connection.clone()),
                    Ok(Current::Down(error)) => Err(error.clone()),
                    Ok(Current::Starting) | Err(_) => {
                        Err(StoreError::Connection { reason: "connecting has ended".to_owned() })
                    }
                }
            }
        }
    }

    /// Reports that a connection is of no use any more.
    pub(super) fn lost(&self, connection: &Connection) {
        self.report(connection.number);
    }

    fn report(&self, number: u64) {
        if let Self::Kept { lost, .. } = self {
            // Without a receiver the task has ended, and there is nobody to tell.
            let _ = lost.send(number);
        }
    }

    /// Watches over one call: dropped before [`Call::answered`], it has had no answer.
    pub(super) fn call<'s>(&'s self, connection: &'s mut Connection) -> (Call<'s>, &'s mut Link) {
        let Connection { link, number, health } = connection;
        (Call { supervisor: self, number: *number, health, answered: false }, link)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Self::Kept { task, .. } = self {
            task.abort();
        }
    }
}

/// One call over a connection.
#[derive(Debug)]
pub(super) struct Call<'s> {
    supervisor: &'s Supervisor,
    number: u64,
    health: &'s Health,
    answered: bool,
}

impl Call<'_> {
    /// The server has said something.
    pub(super) fn answered(mut self) {
        self.answered = true;
        self.health.answered();
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.answered && self.health.unanswered() {
            self.supervisor.report(self.number);
        }
    }
}

/// Connects, and connects again whenever the connection is lost.
async fn keep(
    client: Client,
    publish: watch::Sender<Current>,
    mut reports: mpsc::UnboundedReceiver<u64>,
) {
    let address = client.get_connection_info().addr().to_string();
    // The limiter has a deadline of its own, and the pipeline is not to be cut for one slow answer.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(None);
    let (shortest, longest) = PAUSES;
    let mut pause = shortest;
    let mut number = 0;
    loop {
        match connect(&client, &config, &address).await {
            Ok(link) => {
                number += 1;
                publish.send_replace(Current::Up(Connection::new(link, number)));
                pause = shortest;
                // Reports on earlier connections may still come in.
                while let Some(lost) = reports.recv().await
                    && lost != number
                {}
                let reason = format!("the connection to {address} was lost");
                publish.send_replace(Current::Down(StoreError::Connection { reason }));
            }
            Err(error) => {
                publish.send_replace(Current::Down(error));
                // Instances that lost one server together do not all come back together.
                tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
                pause = (pause * 2).min(longest);
            }
        }
    }
}

async fn connect(
    client: &Client,
    config: &AsyncConnectionConfig,
    address: &str,
) -> Result<Link, StoreError> {
    let explain = |error| failure::while_connecting(&error, address);
    let mut link =
        client.get_multiplexed_async_connection_with_config(config).await.map_err(explain)?;
    let mut info = redis::cmd("INFO");
    let info = info.arg("server").query_async::<String>(&mut link);
    match tokio::time::timeout(CONNECT_TIMEOUT, info).await {
        Ok(Ok(info)) => match too_old(&info) {
            Some(version) => Err(StoreError::Server {
                reason: format!("{address} is Redis {version}, and 7.0 or newer is needed"),
            }),
            None => Ok(link),
        },
        Ok(Err(error)) => match failure::remedy(&error) {
            // A server that does not let this user ask may still let it run the scripts.
            Remedy::Fail if error.code() != Some("NOAUTH") => Ok(link),
            Remedy::Fail | Remedy::Drop => Err(explain(error)),
            Remedy::Upload | Remedy::Wait | Remedy::Reconnect => Ok(link),
        },
        Err(_) => Err(StoreError::Connection { reason: format!("{address}: timed out") }),
    }
}

/// The server's version, if it is older than the scripts need: they begin with a line that says
/// what they are, which came with 7.0. Valkey tells the version of Redis that it stands in for.
fn too_old(info: &str) -> Option<&str> {
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"))?.trim();
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < 7).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::too_old;

    #[test]
    fn old_servers_are_recognised() {
        assert_eq!(too_old("# Server\r\nredis_version:6.2.14\r\n"), Some("6.2.14"));
        assert_eq!(too_old("redis_version:7.0.15\r\nvalkey_version:8.1.1\r\n"), None);
        assert_eq!(too_old("redis_version:10.0.0\r\n"), None);
        assert_eq!(too_old("something else"), None);
    }
}
