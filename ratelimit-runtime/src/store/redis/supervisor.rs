//! The connection to one server, and the circuit breaker in front of it.
//!
//! A [task](super::keeper) connects and publishes the connection; calls only look at what is there.
//!
//! | the breaker is | what is published | calls |
//! | --- | --- | --- |
//! | closed | a connection | use it |
//! | open | the reason why there is none | fail with that reason at once |
//! | half-open | still the reason, while the task makes an attempt | fail with that reason at once |
//!
//! An attempt ends with a probe: a call like any other, about a key that no check has. If the server
//! answers it in time, the breaker closes. No call of a user is ever the probe.
//!
//! The breaker opens when the connection is lost, and when the server does not answer a probe. Probes
//! are sent over a connection that is idle, and when a call has ended without a reply
//! (see [`Connection`]).

use std::sync::Arc;

use redis::aio::MultiplexedConnection as Link;
use tokio::task::AbortHandle;

use super::connection::Connection;
use super::dial::Dial;
use super::eventually::Eventually;
use super::keeper::{Keeper, Target};
use crate::driver;
use crate::error::{ConfigError, StoreError};

/// Where a node's connection comes from.
#[derive(Debug)]
pub(super) enum Supervisor {
    /// A task keeps one.
    Kept { connection: Eventually<Connection>, task: AbortHandle },
    /// The caller handed one in, and it is never replaced.
    Given(Connection),
}

impl Supervisor {
    /// Starts to connect.
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        let (publisher, connection) = Eventually::new();
        let keeper = Keeper::new(target, dial, publisher);
        let task = driver::handle()?.spawn(keeper.keep()).abort_handle();
        Ok(Self::Kept { connection, task })
    }

    /// Uses a connection that somebody else keeps.
    pub(super) fn given(link: Link) -> Self {
        Self::Given(Connection::new(link, "the given connection".to_owned(), true))
    }

    /// The connection that is there, for a call. Waits a moment for the first attempt.
    pub(super) async fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { connection, .. } => connection.get(Connection::clone).await,
        }
    }

    /// The connection that is there. Waits for the end of the first attempt.
    pub(super) async fn connected(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Given(connection) => Ok(connection.clone()),
            Self::Kept { connection, .. } => connection.settled(Connection::clone).await,
        }
    }

    /// Whether the breaker is closed.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Given(_) => true,
            Self::Kept { connection, .. } => connection.is_ready(),
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
