//! Runs a script on the server that owns the key.
//!
//! A call is sent again only when the server's answer proves that the script did not run. After a
//! lost connection or a missed deadline it may have been counted, and counts once.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};

use super::cluster::Cluster;
use super::dial::Dial;
use super::failure::{self, Remedy};
use super::node::{Node, Request};
use super::place::Place;
use super::sentinel::Sentinels;
use super::slot::Slot;
use super::supervisor::Target;
use crate::error::{ConfigError, StoreError};

/// How long to wait for a server that says that it will soon be able to answer, first; each wait is
/// twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(2);

/// After so many waits the answer is what the server says.
const WAITS: u32 = 4;

/// So often a call is sent on at once; after that the nodes do not agree, and are given time to.
const HOPS: u32 = 4;

/// Who decides.
#[derive(Debug)]
pub(super) enum Servers {
    One(Arc<Node>),
    Cluster(Cluster),
}

impl Servers {
    /// Starts to connect to the servers of a URL.
    pub(super) fn start(place: Place, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        Ok(match place {
            Place::Server(info) => {
                let target = Target::Server(Box::new(dial.endpoint(info)));
                Self::One(Arc::new(Node::start(target, dial)?))
            }
            Place::Sentinel { sentinels, primary, login, tls } => {
                let sentinels = Sentinels::new(sentinels, &primary, login, tls, &dial);
                Self::One(Arc::new(Node::start(Target::Primary(sentinels), dial)?))
            }
            Place::Cluster { seeds } => Self::Cluster(Cluster::start(seeds, dial)?),
        })
    }

    /// The server for a slot.
    async fn node(&self, slot: Slot) -> Result<Arc<Node>, StoreError> {
        match self {
            Self::One(node) => Ok(node.clone()),
            Self::Cluster(cluster) => {
                let node = cluster.node(slot).await;
                if node.is_err() {
                    cluster.look_again();
                }
                node
            }
        }
    }

    /// Sends a command that does no harm when it runs twice.
    pub(super) async fn ask(&self, slot: Slot, command: Cmd) -> Result<Value, StoreError> {
        // No script is ever missing for it.
        let request = Request { script: &ratelimit_lua::ACQUIRE_ALL, command, slot };
        self.run(&request).await
    }

    /// Something is not as it was known.
    fn look_again(&self) {
        if let Self::Cluster(cluster) = self {
            cluster.look_again();
        }
    }

    /// Sends a call of a script until it has run or has failed. The limiter's deadline ends it.
    pub(super) async fn run(&self, request: &Request) -> Result<Value, StoreError> {
        let mut node = self.node(request.slot).await?;
        let mut asking = false;
        let mut waits = 0;
        let mut hops = 0;
        loop {
            let mut connection = match node.supervisor().connection().await {
                Ok(connection) => connection,
                Err(error) => {
                    self.look_again();
                    return Err(error);
                }
            };
            let error = match node.run(&mut connection, request, asking).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            match (failure::remedy(&error), self) {
                (Remedy::Follow { asking: ask }, Self::Cluster(cluster)) if hops < HOPS => {
                    let next = failure::followed(&error).and_then(|to| cluster.node_at(&to, &node));
                    node = next.ok_or_else(|| failure::of_call(&error, connection.name()))?;
                    asking = ask;
                    hops += 1;
                    if !ask {
                        self.look_again();
                    }
                }
                (remedy @ (Remedy::Wait | Remedy::Reconnect), _)
                | (remedy @ Remedy::Follow { .. }, Self::Cluster(_))
                    if waits < WAITS =>
                {
                    if remedy == Remedy::Reconnect {
                        connection.lose();
                    }
                    self.look_again();
                    crate::driver::sleep(PAUSE * (1 << waits)).await;
                    waits += 1;
                    node = self.node(request.slot).await?;
                    asking = false;
                }
                (Remedy::Follow { .. }, Self::Cluster(_)) => {
                    let reason = "CLUSTERDOWN: the nodes do not agree on who has the slot";
                    return Err(StoreError::Server { reason: reason.to_owned() });
                }
                (Remedy::Drop, _) => {
                    connection.lose();
                    self.look_again();
                    return Err(failure::of_call(&error, connection.name()));
                }
                _ => return Err(failure::of_call(&error, connection.name())),
            }
        }
    }
}
