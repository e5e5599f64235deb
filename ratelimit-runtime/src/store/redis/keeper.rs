//! The task that keeps one connection: it connects, watches over the connection, and connects again.
//!
//! It lives on the [driver](crate::driver), and is the only one that talks to a server that does not
//! answer: one attempt or probe at a time, with [`Backoff`] between attempts that fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::backoff::Backoff;
use super::connection::{Connection, Event};
use super::dial::{Connected, Dial};
use super::endpoint::Endpoint;
use super::eventually::Publisher;
use super::sentinel::{Primary, Sentinels};
use crate::error::StoreError;
use crate::telemetry;

/// A connection without replies for this long is probed, so that no call has to find out that it is gone.
/// Sentinels are asked as often.
const IDLE_PROBE_AFTER: Duration = Duration::from_secs(1);

/// Where a connection leads.
#[derive(Debug)]
pub(super) enum Target {
    /// To a server. Its host name is looked up for every attempt.
    Server(Box<Endpoint>),
    /// To the primary of the moment.
    Primary(Sentinels),
}

/// The task.
pub(super) struct Keeper {
    target: Target,
    dial: Arc<Dial>,
    publisher: Publisher<Connection>,
    gauge: telemetry::Server,
}

/// A connection, and the primary that it leads to if Sentinels have named one.
type Attempt = Result<(Connected, Option<Primary>), StoreError>;

/// Why a connection is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lost,
    /// There is another primary.
    Moved,
}

impl Keeper {
    pub(super) const fn new(
        target: Target,
        dial: Arc<Dial>,
        publisher: Publisher<Connection>,
    ) -> Self {
        Self { target, dial, publisher, gauge: telemetry::Server::new() }
    }

    /// Runs until it is dropped.
    pub(super) async fn keep(mut self) {
        let mut backoff = Backoff::connecting();
        let mut attempt = self.first_attempt().await;
        loop {
            let reason = match attempt {
                Ok((connected, primary)) => {
                    let connection = self.publish(connected);
                    let end = self.watch(&connection, primary.as_ref()).await;
                    // A connection over which nothing ever succeeded is like a failed attempt.
                    if connection.has_succeeded() {
                        backoff.reset();
                    }
                    if end == End::Moved {
                        // The old primary still answers: calls use it until the new one is connected.
                        attempt = self.attempt().await;
                        continue;
                    }
                    let name = self.target.name();
                    StoreError::Connection { reason: format!("the connection to {name} was lost") }
                }
                Err(error) => error,
            };
            self.gauge.down();
            self.publisher.failed(reason);
            backoff.wait().await;
            attempt = self.attempt().await;
        }
    }

    async fn first_attempt(&self) -> Attempt {
        let reason = format!("still connecting to {}", self.target.name());
        self.publisher.first(self.attempt(), StoreError::Connection { reason }).await
    }

    async fn attempt(&self) -> Attempt {
        match &self.target {
            Target::Server(server) => Ok((self.dial.connect(server).await?, None)),
            Target::Primary(sentinels) => {
                let primary = sentinels.find(&self.dial).await?;
                let server = sentinels.endpoint(&primary, &self.dial)?;
                Ok((self.dial.connect(&server).await?, Some(primary)))
            }
        }
    }

    fn publish(&mut self, Connected { link, takes_uploads }: Connected) -> Connection {
        let connection = Connection::new(link, self.target.name(), takes_uploads);
        self.gauge.up();
        self.publisher.ready(connection.clone());
        connection
    }

    /// Returns when the connection is lost, or leads to the wrong server.
    async fn watch(&self, connection: &Connection, primary: Option<&Primary>) -> End {
        // Due whatever callers do meanwhile.
        let mut ask_sentinels = Instant::now() + IDLE_PROBE_AFTER;
        loop {
            let idle_in = IDLE_PROBE_AFTER.saturating_sub(connection.since_last_reply());
            let idle = Instant::now() + idle_in;
            let event = connection.event(idle.min(ask_sentinels)).await;
            if event == Event::Lost {
                return End::Lost;
            }
            // A primary that was replaced may take calls for long before it hears of that.
            if Instant::now() >= ask_sentinels {
                if self.has_moved(primary).await {
                    return End::Moved;
                }
                ask_sentinels = Instant::now() + IDLE_PROBE_AFTER;
            }
            let is_idle = connection.since_last_reply() >= IDLE_PROBE_AFTER;
            let is_due = event == Event::Suspected || is_idle;
            if is_due && !self.dial.still_answers(connection).await {
                return End::Lost;
            }
        }
    }

    /// Whether Sentinels name another primary by now.
    async fn has_moved(&self, from: Option<&Primary>) -> bool {
        match (&self.target, from) {
            (Target::Primary(sentinels), Some(from)) => sentinels.has_moved(from, &self.dial).await,
            _ => false,
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
