//! Keeps a connection to one server, and is the breaker in front of it.
//!
//! A task on the [driver](crate::driver) owns the connecting: it tries again with growing pauses
//! until it succeeds, and when the connection is of no use any more, it starts over. Whether it is of
//! use, the task finds out by a question of its own. Callers only look at the connection that is there,
//! and while there is none they get the reason at once: nobody but the task asks a server that does not
//! answer, and it asks one question at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection as Link;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::connection::{Connection, News};
use super::dial::{Dial, Ready};
use super::endpoint::Endpoint;
use super::pauses::Pauses;
use super::sentinel::{Found, Sentinels};
use crate::driver;
use crate::error::{ConfigError, StoreError};
use crate::telemetry;

/// How long calls wait for the first attempt, all of them together: it is nearly always done by
/// then, and a server that is not there is not waited for by one call after the other.
const PATIENCE: Duration = Duration::from_millis(250);

/// A connection that nobody has used for so long is tried out, so that a call does not have to find
/// out that it is gone. So often Sentinels are asked as well.
const IDLE: Duration = Duration::from_secs(1);

/// Where a connection leads.
#[derive(Debug)]
pub(super) enum Target {
    /// To a server. Its name is looked up anew for every attempt.
    Server(Box<Endpoint>),
    /// To the primary of the moment.
    Primary(Sentinels),
}

/// Where a node's connection comes from.
#[derive(Debug)]
pub(super) enum Supervisor {
    /// A task keeps one.
    Kept { current: watch::Receiver<Current>, task: AbortHandle },
    /// The caller handed one in, and it is never replaced.
    Given(Connection),
}

/// The connection that is there, or why there is none.
#[derive(Clone, Debug)]
pub(super) enum Current {
    /// The first attempt goes on, and calls wait for it.
    Starting,
    /// The first attempt goes on, and calls do not wait for it any more.
    StillStarting(StoreError),
    Up(Connection),
    Down(StoreError),
}

impl Supervisor {
    /// Starts to connect.
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        let (publish, current) = watch::channel(Current::Starting);
        let told = telemetry::Server::new();
        let keeper = Keeper { target, dial, publish, told };
        let task = driver::handle()?.spawn(keeper.keep()).abort_handle();
        Ok(Self::Kept { current, task })
    }

    /// Uses a connection that somebody else keeps.
    pub(super) fn given(link: Link) -> Self {
        Self::Given(Connection::new(link, "the given connection".to_owned(), true))
    }

    /// The connection that is there, for a call; waits a little for the first one.
    pub(super) async fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { current, .. } => {
                if let Current::Up(connection) = &*current.borrow() {
                    return Ok(connection.clone());
                }
                known(current, |current| !matches!(current, Current::Starting)).await
            }
        }
    }

    /// The connection that is there; waits for the end of the first attempt.
    pub(super) async fn connected(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { current, .. } => {
                let is_known = |current: &Current| {
                    !matches!(current, Current::Starting | Current::StillStarting(_))
                };
                known(current, is_known).await
            }
        }
    }

    /// Whether there is a connection.
    pub(super) fn is_up(&self) -> bool {
        match self {
            Self::Given(_) => true,
            Self::Kept { current, .. } => matches!(*current.borrow(), Current::Up(_)),
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Self::Kept { task, .. } = self {
            task.abort();
        }
    }
}

impl Current {
    fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Up(connection) => Ok(connection.clone()),
            Self::StillStarting(error) | Self::Down(error) => Err(error.clone()),
            Self::Starting => Err(ended()),
        }
    }
}

/// The connection, as soon as so much is known.
async fn known(
    current: &watch::Receiver<Current>,
    enough: impl FnMut(&Current) -> bool,
) -> Result<Connection, StoreError> {
    let mut current = current.clone();
    current.wait_for(enough).await.map_or_else(|_| Err(ended()), |current| current.connection())
}

fn ended() -> StoreError {
    StoreError::Connection { reason: "connecting has ended".to_owned() }
}

/// A connection, and where Sentinels have found its server.
type Attempt = Result<(Ready, Option<Found>), StoreError>;

/// Why a connection is not held any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lost,
    Moved,
}

/// The task that connects, and connects again whenever the connection is lost.
struct Keeper {
    target: Target,
    dial: Arc<Dial>,
    publish: watch::Sender<Current>,
    told: telemetry::Server,
}

impl Keeper {
    async fn keep(mut self) {
        let mut pauses = Pauses::new();
        let mut attempt = self.first_attempt().await;
        loop {
            let reason = match attempt {
                Ok((ready, found)) => {
                    let connection = self.up(ready);
                    let end = self.hold(&connection, found.as_ref()).await;
                    // One that never was of use is like an attempt that failed.
                    if connection.has_worked() {
                        pauses.reset();
                    }
                    if end == End::Moved {
                        // What is there still answers, until the other one does.
                        attempt = self.attempt().await;
                        continue;
                    }
                    let name = self.target.name();
                    StoreError::Connection { reason: format!("the connection to {name} was lost") }
                }
                Err(error) => error,
            };
            self.told.down();
            self.publish.send_replace(Current::Down(reason));
            pauses.wait().await;
            attempt = self.attempt().await;
        }
    }

    /// Of this attempt alone it is not known beforehand whether it makes sense to wait for it.
    async fn first_attempt(&self) -> Attempt {
        let mut attempt = std::pin::pin!(self.attempt());
        if let Ok(done) = timeout(PATIENCE, attempt.as_mut()).await {
            return done;
        }
        let reason = format!("still connecting to {}", self.target.name());
        let error = StoreError::Connection { reason };
        self.publish.send_replace(Current::StillStarting(error));
        attempt.await
    }

    async fn attempt(&self) -> Attempt {
        match &self.target {
            Target::Server(server) => Ok((self.dial.primary(server).await?, None)),
            Target::Primary(sentinels) => {
                let found = sentinels.find(&self.dial).await?;
                let server = sentinels.endpoint(&found, &self.dial)?;
                Ok((self.dial.primary(&server).await?, Some(found)))
            }
        }
    }

    /// Whether the primary is another one now.
    async fn has_moved(&self, from: Option<&Found>) -> bool {
        match (&self.target, from) {
            (Target::Primary(sentinels), Some(from)) => sentinels.has_moved(from, &self.dial).await,
            _ => false,
        }
    }

    fn up(&mut self, Ready { link, takes_uploads }: Ready) -> Connection {
        let connection = Connection::new(link, self.target.name(), takes_uploads);
        self.told.up();
        self.publish.send_replace(Current::Up(connection.clone()));
        connection
    }

    /// Returns when the connection is lost, or leads to the wrong server.
    async fn hold(&self, connection: &Connection, found: Option<&Found>) -> End {
        // Whatever callers do meanwhile.
        let mut sentinels = Instant::now() + IDLE;
        loop {
            let idle = Instant::now() + IDLE.saturating_sub(connection.silent_for());
            let news = connection.news(idle.min(sentinels)).await;
            if news == News::Lost {
                return End::Lost;
            }
            // A primary that was replaced may take calls for long before it hears of that.
            if Instant::now() >= sentinels {
                if self.has_moved(found).await {
                    return End::Moved;
                }
                sentinels = Instant::now() + IDLE;
            }
            let is_due = news == News::Suspected || connection.silent_for() >= IDLE;
            if is_due && !self.dial.still_answers(connection).await {
                return End::Lost;
            }
        }
    }
}

impl Target {
    /// What to call it in a message.
    fn name(&self) -> String {
        match self {
            Self::Server(server) => server.name(),
            Self::Primary(sentinels) => format!("the primary `{}`", sentinels.name()),
        }
    }
}
