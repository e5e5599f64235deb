//! Keeps a connection to one server, and is the breaker in front of it.
//!
//! A task on the [driver](crate::driver) owns the connecting: it tries again with growing pauses
//! until it succeeds, and when a caller reports that the connection is of no use, it starts over.
//! Callers only look at the connection that is there. While there is none they are told so at once:
//! nobody but the task asks a server that does not answer, and it asks one question at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use redis::Client;
use redis::aio::MultiplexedConnection as Link;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::dial::Dial;
use super::failure;
use super::pauses::Pauses;
use super::sentinel::{Found, Sentinels};
use crate::driver;
use crate::error::{ConfigError, StoreError};
use crate::telemetry;

/// How long calls wait for the first attempt, all of them together: it is nearly always done by
/// then, and a server that is not there is not waited for by one call after the other.
const PATIENCE: Duration = Duration::from_millis(250);

/// A connection over which so many calls in a row got no answer, and none for so long, is replaced:
/// a black hole looks just like a slow server. Where a check may take longer than that, it is also
/// silent for as long as a check may take: callers who lose patience earlier do not prove anything.
const SILENCE: (u32, Duration) = (3, Duration::from_millis(100));

/// A connection that nobody has used for so long is tried out, so that a call does not have to find
/// out that it is gone. So often Sentinels are asked as well.
const IDLE: Duration = Duration::from_secs(1);

/// Where a connection leads.
#[derive(Debug)]
pub(super) enum Target {
    /// To a server. Its name is looked up anew for every attempt.
    Server(Client),
    /// To the primary of the moment.
    Primary(Sentinels),
}

/// Where a node's connection comes from.
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
    /// The first attempt goes on, and calls wait for it.
    Starting,
    /// The first attempt goes on, and calls do not wait for it any more.
    StillStarting(StoreError),
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
    /// What to call the server in a message.
    name: String,
    since: Instant,
    /// For how long there has to be no answer until it is replaced.
    silence: Duration,
    /// Milliseconds after `since` of the latest answer.
    answered_ms: AtomicU32,
    /// Calls without an answer since one had one.
    unanswered: AtomicU32,
    /// Whether a call has ever succeeded.
    worked: AtomicBool,
    /// Whether calls have to stay away until one of them has been answered.
    on_trial: AtomicBool,
    /// Whether that one is on its way.
    tried: AtomicBool,
}

impl Connection {
    fn new(link: Link, number: u64, name: String, deadline: Duration, on_trial: bool) -> Self {
        let (_, shortest) = SILENCE;
        let health = Health {
            name,
            since: Instant::now(),
            silence: deadline.max(shortest),
            answered_ms: AtomicU32::new(0),
            unanswered: AtomicU32::new(0),
            worked: AtomicBool::new(false),
            on_trial: AtomicBool::new(on_trial),
            tried: AtomicBool::new(false),
        };
        Self { link, number, health: Arc::new(health) }
    }

    /// What to call the server in a message.
    pub(super) fn name(&self) -> &str {
        &self.health.name
    }

    /// For one call; while it is on trial, for one alone.
    fn for_a_call(&self) -> Result<Self, StoreError> {
        let health = &self.health;
        if health.on_trial.load(Ordering::Relaxed) && health.tried.swap(true, Ordering::Relaxed) {
            let reason = "one call finds out whether the server answers".to_owned();
            return Err(StoreError::Connection { reason });
        }
        Ok(self.clone())
    }
}

impl Health {
    fn elapsed_ms(&self) -> u32 {
        u32::try_from(self.since.elapsed().as_millis()).unwrap_or(u32::MAX)
    }

    fn silent_for(&self) -> Duration {
        let answered = self.answered_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.elapsed_ms().saturating_sub(answered).into())
    }

    /// The server has said something.
    fn alive(&self) {
        let now = self.elapsed_ms();
        if self.answered_ms.load(Ordering::Relaxed) != now {
            self.answered_ms.store(now, Ordering::Relaxed);
        }
    }

    /// The server has said something to a call: what was asked for, if it `worked`.
    fn answered(&self, worked: bool) {
        // Under load nearly every call finds nothing to change, and then writes nothing shared but
        // the time, and that only as often as it changes.
        self.alive();
        if self.unanswered.load(Ordering::Relaxed) > 0 {
            self.unanswered.store(0, Ordering::Relaxed);
        }
        if self.on_trial.load(Ordering::Relaxed) {
            self.on_trial.store(false, Ordering::Relaxed);
        }
        if worked && !self.worked.load(Ordering::Relaxed) {
            self.worked.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a call without an answer; whether the connection should be replaced.
    fn unanswered(&self) -> bool {
        let (calls, _) = SILENCE;
        let unanswered = self.unanswered.fetch_add(1, Ordering::Relaxed) + 1;
        let is_silent = unanswered >= calls && self.silent_for() >= self.silence;
        is_silent || self.on_trial.load(Ordering::Relaxed)
    }
}

impl Supervisor {
    /// Starts to connect.
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        let (publish, current) = watch::channel(Current::Starting);
        let (lost, reports) = mpsc::unbounded_channel();
        let told = telemetry::Server::new();
        let keeper = Keeper { target, dial, publish, number: 0, useless: false, told };
        let task = driver::handle()?.spawn(keeper.keep(reports)).abort_handle();
        Ok(Self::Kept { current, lost, task })
    }

    /// Uses a connection that somebody else keeps.
    pub(super) fn given(link: Link) -> Self {
        let name = "the given connection".to_owned();
        Self::Given(Connection::new(link, 0, name, Duration::ZERO, false))
    }

    /// The connection that is there, for a call; waits a little for the first one.
    pub(super) async fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { current, .. } => {
                if let Current::Up(connection) = &*current.borrow() {
                    return connection.for_a_call();
                }
                let is_known = |current: &Current| !matches!(current, Current::Starting);
                known(current, is_known).await?.for_a_call()
            }
        }
    }

    /// How the attempts go; waits for the end of the first one.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        match self {
            Self::Given(_) => Ok(()),
            Self::Kept { current, .. } => {
                let is_known = |current: &Current| {
                    !matches!(current, Current::Starting | Current::StillStarting(_))
                };
                known(current, is_known).await.map(|_| ())
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

/// One call over a connection.
#[derive(Debug)]
pub(super) struct Call<'s> {
    supervisor: &'s Supervisor,
    number: u64,
    health: &'s Health,
    answered: bool,
}

impl Call<'_> {
    /// The server has said something: what was asked for, if it `worked`.
    pub(super) fn answered(mut self, worked: bool) {
        self.answered = true;
        self.health.answered(worked);
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.answered && self.health.unanswered() {
            self.supervisor.report(self.number);
        }
    }
}

/// A connection, and where Sentinels have found its server.
type Attempt = Result<(Link, Option<Found>), StoreError>;

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
    /// Of the latest connection.
    number: u64,
    /// Whether the latest connection was of no use to any call: there are gateways that answer for
    /// a server that is gone. The next one is on trial.
    useless: bool,
    told: telemetry::Server,
}

impl Keeper {
    async fn keep(mut self, mut reports: mpsc::UnboundedReceiver<u64>) {
        let mut pauses = Pauses::new();
        let mut attempt = self.first_attempt().await;
        loop {
            let reason = match attempt {
                Ok((link, found)) => {
                    let connection = self.up(link);
                    let end = self.hold(&connection, found.as_ref(), &mut reports).await;
                    // One that never was of use is like an attempt that failed.
                    let health = &connection.health;
                    let worked = health.worked.load(Ordering::Relaxed);
                    self.useless = !worked && health.unanswered.load(Ordering::Relaxed) > 0;
                    if worked {
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
        telemetry::connecting();
        match &self.target {
            Target::Server(client) => Ok((self.dial.primary(client).await?, None)),
            Target::Primary(sentinels) => {
                let found = sentinels.find(&self.dial).await?;
                let client = sentinels.client(&found, &self.dial)?;
                Ok((self.dial.primary(&client).await?, Some(found)))
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

    fn up(&mut self, link: Link) -> Connection {
        self.number += 1;
        let (name, deadline) = (self.target.name(), self.dial.deadline);
        let connection = Connection::new(link, self.number, name, deadline, self.useless);
        self.told.up();
        self.publish.send_replace(Current::Up(connection.clone()));
        connection
    }

    /// Returns when the connection is lost, or leads to the wrong server.
    async fn hold(
        &self,
        connection: &Connection,
        found: Option<&Found>,
        reports: &mut mpsc::UnboundedReceiver<u64>,
    ) -> End {
        loop {
            let quiet = IDLE.saturating_sub(connection.health.silent_for());
            match timeout(quiet, reports.recv()).await {
                Ok(Some(lost)) if lost == connection.number => return End::Lost,
                // Reports on earlier connections may still come in.
                Ok(Some(_)) => {}
                // The store is gone, and this task with it.
                Ok(None) => return End::Lost,
                // A primary that was replaced may take calls for long before it hears of that.
                Err(_) if self.has_moved(found).await => return End::Moved,
                Err(_) if connection.health.silent_for() < IDLE => {}
                Err(_) => {
                    let mut link = connection.link.clone();
                    let command = redis::cmd("PING");
                    let ping = link.send_packed_command(&command);
                    match timeout(self.dial.deadline, ping).await {
                        Ok(Err(error)) if error.is_unrecoverable_error() => return End::Lost,
                        Err(_) => return End::Lost,
                        // Whatever the server says, it is there. Whether it decides is for a call
                        // to find out: for another one, if one has not.
                        Ok(Ok(_) | Err(_)) => {
                            connection.health.alive();
                            connection.health.tried.store(false, Ordering::Relaxed);
                        }
                    }
                }
            }
        }
    }
}

impl Target {
    /// What to call it in a message.
    fn name(&self) -> String {
        match self {
            Self::Server(client) => failure::name(client.get_connection_info().addr()),
            Self::Primary(sentinels) => format!("the primary `{}`", sentinels.name()),
        }
    }
}
