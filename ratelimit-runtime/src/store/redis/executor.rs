//! Sends a call to the server that owns its key, until it has run or has failed.
//!
//! ```text
//!  the node of the slot ── its breaker is open ───────────────────────► error, at once
//!    │
//!    ▼
//!  send ── value ─────────────────────────────────────────────────────► done
//!    ├── NOSCRIPT ──────────── node.rs: upload the script, send again
//!    ├── MOVED, ASK ────────── follow: send again to the node that the reply names
//!    ├── TRYAGAIN, CLUSTERDOWN back off: send again to the node of the slot
//!    ├── READONLY, LOADING, .. back off, over a new connection
//!    ├── any other error ─────────────────────────────────────────────► error
//!    └── no reply, connection lost ───────────────────────────────────► error
//! ```
//!
//! A call is sent again only when the reply proves that the script did not run. After a lost connection it
//! may have been counted, and it counts once. `failure.rs` says which reply is which, and the deadline of
//! the limiter ends it all.

use std::sync::Arc;
use std::time::Duration;

use redis::{RedisError, Value};

use super::cluster::Cluster;
use super::command::Request;
use super::connection::Connection;
use super::dial::Dial;
use super::failure::{self, Remedy};
use super::keeper::Target;
use super::node::Node;
use super::sentinel::Sentinels;
use super::slot::Slot;
use super::url::Topology;
use crate::driver;
use crate::error::{ConfigError, StoreError};

/// How often a call backs off. After that, its error is what the server says.
const MAX_BACKOFFS: u32 = 4;

/// How long it backs off first; each time is twice as long as the one before.
const FIRST_BACKOFF: Duration = Duration::from_millis(2);

/// Redirects followed without backing off. After that the nodes do not agree, and get time to.
const MAX_REDIRECTS: u32 = 4;

/// The Redis deployment.
#[derive(Debug)]
pub(super) enum Servers {
    One(Arc<Node>),
    Cluster(Cluster),
}

impl Servers {
    /// Starts to connect to the servers of a URL.
    pub(super) fn start(topology: Topology, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        Ok(match topology {
            Topology::Server(info) => {
                let target = Target::Server(Box::new(dial.endpoint(info)));
                Self::One(Arc::new(Node::start(target, dial)?))
            }
            Topology::Sentinel { sentinels, primary, login, tls } => {
                let sentinels = Sentinels::new(sentinels, &primary, login, tls, &dial);
                Self::One(Arc::new(Node::start(Target::Primary(sentinels), dial)?))
            }
            Topology::Cluster { seeds } => Self::Cluster(Cluster::start(seeds, dial)?),
        })
    }

    /// Sends a request until it has run or has failed.
    pub(super) async fn run(&self, request: &Request) -> Result<Value, StoreError> {
        let node = self.node(request.slot).await?;
        let attempt =
            Attempt { servers: self, request, node, asking: false, redirects: 0, backoffs: 0 };
        attempt.run().await
    }

    /// The node that owns a slot.
    async fn node(&self, slot: Slot) -> Result<Arc<Node>, StoreError> {
        match self {
            Self::One(node) => Ok(node.clone()),
            Self::Cluster(cluster) => {
                let node = cluster.node(slot).await;
                if node.is_err() {
                    cluster.refresh();
                }
                node
            }
        }
    }

    /// Something is not as the slot map says.
    fn refresh_slot_map(&self) {
        if let Self::Cluster(cluster) = self {
            cluster.refresh();
        }
    }
}

/// A request under way.
struct Attempt<'a> {
    servers: &'a Servers,
    request: &'a Request,
    /// Where it is sent next.
    node: Arc<Node>,
    /// Whether the key is just moving to that node, which then has to be asked with `ASKING`.
    asking: bool,
    /// How often it was redirected.
    redirects: u32,
    /// How often it has backed off.
    backoffs: u32,
}

impl Attempt<'_> {
    async fn run(mut self) -> Result<Value, StoreError> {
        loop {
            let connection = self.node.supervisor().connection().await;
            let mut connection = connection.inspect_err(|_| self.servers.refresh_slot_map())?;
            let sent = self.node.run(&mut connection, self.request, self.asking).await;
            let error = match sent {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // On the heap, since hardly any call comes here: the others need not have room for it.
            if !Box::pin(self.recover(&error, &connection)).await? {
                return Err(failure::of_call(&error, connection.name()));
            }
        }
    }

    /// Prepares for sending the request again; `false` if it must not be.
    async fn recover(
        &mut self,
        error: &RedisError,
        connection: &Connection,
    ) -> Result<bool, StoreError> {
        match (failure::remedy(error), self.servers) {
            (Remedy::Follow { asking }, Servers::Cluster(cluster)) => {
                if self.redirects < MAX_REDIRECTS {
                    return Ok(self.follow(cluster, error, asking));
                }
                if self.back_off().await? {
                    return Ok(true);
                }
                let reason = "CLUSTERDOWN: the nodes do not agree on who has the slot";
                Err(StoreError::Server { reason: reason.to_owned() })
            }
            // One node of a cluster, reached as if it were alone.
            (Remedy::Follow { .. }, Servers::One(_)) | (Remedy::Fail, _) => Ok(false),
            (Remedy::Wait, _) => self.back_off().await,
            (Remedy::Reconnect, _) => {
                if self.backoffs < MAX_BACKOFFS {
                    connection.lose();
                }
                self.back_off().await
            }
            (Remedy::Drop, _) => {
                connection.lose();
                self.servers.refresh_slot_map();
                Ok(false)
            }
        }
    }

    /// Goes on at the node that a redirect names; `false` if it names none.
    fn follow(&mut self, cluster: &Cluster, redirect: &RedisError, asking: bool) -> bool {
        let address = failure::redirect_address(redirect);
        let Some(node) = address.and_then(|address| cluster.node_at(&address, &self.node)) else {
            return false;
        };
        self.node = node;
        self.asking = asking;
        self.redirects += 1;
        // A key that is just moving changes nothing in the map.
        if !asking {
            cluster.refresh();
        }
        true
    }

    /// Waits, and goes on at the node of the slot; `false` if it has waited often enough.
    async fn back_off(&mut self) -> Result<bool, StoreError> {
        if self.backoffs >= MAX_BACKOFFS {
            return Ok(false);
        }
        self.servers.refresh_slot_map();
        driver::sleep(FIRST_BACKOFF * (1 << self.backoffs)).await;
        self.backoffs += 1;
        self.node = self.servers.node(self.request.slot).await?;
        self.asking = false;
        Ok(true)
    }
}
