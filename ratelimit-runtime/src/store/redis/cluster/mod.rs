//! The nodes of a Redis Cluster: which of them owns which slot, and a connection to each.
//!
//! A task on the [driver](crate::driver) reads the slot map from any node: at first, from time to time, and
//! whenever a call finds that something has changed. The Redis client's own cluster connection is not used:
//! it sends a call again after a lost connection, when it may have been counted.

mod slot_map;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::{ConnectionAddr, RedisConnectionInfo, Value};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use self::slot_map::{SlotMap, is_own_host};
use super::backoff::Backoff;
use super::command::ProbeRequests;
use super::dial::Dial;
use super::endpoint::Endpoint;
use super::eventually::{Eventually, Publisher};
use super::failure::{self, SetupStep};
use super::keeper::Target;
use super::node::Node;
use super::slot::Slot;
use crate::driver;
use crate::error::{ConfigError, InvalidUrl, StoreError};

/// How often the slot map is read when nothing seems to have changed.
const REFRESH_EVERY: Duration = Duration::from_secs(30);

/// How long one node may take to send the slot map before another is asked too.
const NODE_TIMEOUT: Duration = Duration::from_millis(300);

/// How many keys are tried to find one of a node: usually enough for a node with a single slot.
const MAX_KEYS_TRIED: u32 = 65_536;

/// A cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    nodes: Arc<Nodes>,
    slot_map: Eventually<Arc<SlotMap>>,
    task: AbortHandle,
}

/// What the task and the callers share.
#[derive(Debug)]
struct Nodes {
    dial: Arc<Dial>,
    /// Where to ask when no other node is known.
    seeds: Vec<Arc<Endpoint>>,
    tls: bool,
    login: RedisConnectionInfo,
    /// By address: the owners of slots, and nodes to which a call was redirected.
    known: Mutex<HashMap<String, Arc<Node>>>,
    refresh: Notify,
}

impl Cluster {
    /// Starts to read the slot map.
    pub(super) fn start(
        seeds: Vec<redis::ConnectionInfo>,
        dial: Arc<Dial>,
    ) -> Result<Self, ConfigError> {
        let first =
            seeds.first().ok_or(ConfigError::RedisUrl(InvalidUrl::Host { number: 1, of: 1 }))?;
        let tls = matches!(first.addr(), ConnectionAddr::TcpTls { .. });
        let login = first.redis_settings().clone();
        let seeds = seeds.into_iter().map(|info| Arc::new(dial.endpoint(info))).collect();
        let (known, refresh) = (Mutex::default(), Notify::new());
        let nodes = Arc::new(Nodes { dial, seeds, tls, login, known, refresh });
        let (publisher, slot_map) = Eventually::new();
        let task = driver::handle()?.spawn(keep(nodes.clone(), publisher)).abort_handle();
        Ok(Self { nodes, slot_map, task })
    }

    /// The owner of a slot. Waits a moment for the first slot map.
    pub(super) async fn node(&self, slot: Slot) -> Result<Arc<Node>, StoreError> {
        self.slot_map.get(|map| map.owner(slot)).await?.ok_or_else(no_owner)
    }

    /// The node at an address that another one has named.
    pub(super) fn node_at(&self, address: &str, named_by: &Arc<Node>) -> Option<Arc<Node>> {
        let (host, port) = address.rsplit_once(':')?;
        let port = port.parse().ok()?;
        if !is_own_host(host) {
            return self.nodes.at(host, port).ok();
        }
        let own = self.nodes.address_of(named_by)?;
        self.nodes.at(host_of(&own), port).ok()
    }

    /// Has the slot map read again.
    pub(super) fn refresh(&self) {
        self.nodes.refresh.notify_one();
    }

    /// Waits until all owners of slots have said that they are ready, or one that it is not.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        let map = self.slot_map.settled(Arc::clone).await?;
        let mut owners: Vec<&Arc<Node>> = Vec::new();
        for node in map.nodes() {
            if !owners.iter().any(|other| Arc::ptr_eq(node, other)) {
                owners.push(node);
            }
        }
        let mut asking = JoinSet::new();
        for node in owners {
            let (probes, node) = (self.probes_of(&map, node), node.clone());
            let ready = async move {
                match probes {
                    // The cluster itself takes care of a key that is just moving.
                    Some(probes) => node.ready_by(&probes, failure::is_moving).await,
                    None => node.ready().await,
                }
            };
            asking.spawn_on(ready, driver::handle()?);
        }
        while let Some(ready) = asking.join_next().await {
            ready.unwrap_or_else(|_| Err(ended()))?;
        }
        Ok(())
    }

    /// Probes about a key of a node: only when asked about a key does a node say that the cluster is down.
    fn probes_of(&self, map: &SlotMap, node: &Arc<Node>) -> Option<ProbeRequests> {
        let probe = &self.nodes.dial.probe_key;
        let mut keys = (0..MAX_KEYS_TRIED).map(|number| format!("{probe}:{number}"));
        let is_there =
            |key: &String| map.owner(Slot::of(key)).is_some_and(|owner| Arc::ptr_eq(&owner, node));
        keys.find(is_there).map(|key| ProbeRequests::about(&key))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn no_owner() -> StoreError {
    StoreError::Server { reason: "CLUSTERDOWN: nobody owns the slot".to_owned() }
}

fn ended() -> StoreError {
    StoreError::Connection { reason: "asking the nodes has ended".to_owned() }
}

/// The task that keeps the slot map.
async fn keep(nodes: Arc<Nodes>, publisher: Publisher<Arc<SlotMap>>) {
    let mut backoff = Backoff::connecting();
    let reason = "still looking for the nodes of the cluster".to_owned();
    let slow = StoreError::Connection { reason };
    let mut read = publisher.first(nodes.read_map(), slow).await;
    loop {
        match read {
            Ok(map) => {
                backoff.reset();
                publisher.ready(Arc::new(map));
                // Read again after that time even if nobody asks for it.
                let _ = timeout(REFRESH_EVERY, nodes.refresh.notified()).await;
            }
            Err(error) => publisher.failed_unless_ready(error),
        }
        // Even after success: many calls may ask for it at once, in many instances.
        backoff.wait().await;
        read = nodes.read_map().await;
    }
}

impl Nodes {
    /// Asks one node after the other for the slot map, and if none of them sends it, all seeds.
    async fn read_map(self: &Arc<Self>) -> Result<SlotMap, StoreError> {
        let mut known: Vec<(String, Arc<Node>)> =
            self.known.lock().iter().map(|(name, node)| (name.clone(), node.clone())).collect();
        // In any order: the first one may be the one that is wrong.
        fastrand::shuffle(&mut known);
        for (name, node) in known.iter().filter(|(_, node)| node.supervisor().is_closed()) {
            let limit = NODE_TIMEOUT.min(self.dial.connect_timeout);
            if let Ok(Ok(reply)) = timeout(limit, node.send(&slots())).await
                && let Ok(map) = self.adopt(&reply, host_of(name))
            {
                return Ok(map);
            }
        }
        let mut asking = JoinSet::new();
        for seed in &self.seeds {
            let (nodes, seed) = (self.clone(), seed.clone());
            asking.spawn(async move { nodes.ask_seed(&seed).await });
        }
        let mut failure = None;
        while let Some(asked) = asking.join_next().await {
            match asked {
                Ok(Ok(map)) => return Ok(map),
                Ok(Err(error)) => failure = Some(error),
                Err(_) => {}
            }
        }
        Err(failure.unwrap_or_else(|| StoreError::Connection {
            reason: "no node of the cluster answers".to_owned(),
        }))
    }

    async fn ask_seed(&self, seed: &Endpoint) -> Result<SlotMap, StoreError> {
        let address = seed.address();
        let mut link = self.dial.open(seed).await?;
        let command = slots();
        let asking = link.send_packed_command(&command);
        let Ok(reply) = timeout(self.dial.connect_timeout, asking).await else {
            return Err(seed.timed_out(SetupStep::SLOTS));
        };
        let reply = reply.and_then(Value::extract_error).map_err(|error| {
            if failure::has_no_cluster(&error) {
                let reason =
                    format!("{address} is not a node of a cluster: it is reached by redis://");
                return seed.block(StoreError::Server { reason });
            }
            match seed.failed(&error, Some(SetupStep::SLOTS)) {
                StoreError::Server { reason } if failure::is_unknown_command(&error) => {
                    let advice = "an address that hides its nodes is reached by redis://";
                    seed.block(StoreError::Server { reason: format!("{reason}: {advice}") })
                }
                error => error,
            }
        })?;
        let map = self.adopt(&reply, host_of(&address.to_string()))?;
        seed.succeeded();
        Ok(map)
    }

    /// The slot map in a reply of the node on a host. Nodes that are not in it are forgotten.
    fn adopt(&self, reply: &Value, host: &str) -> Result<SlotMap, StoreError> {
        let map = SlotMap::parse(reply, host, |host, port| self.at(host, port))?;
        self.known.lock().retain(|_, node| map.nodes().any(|other| Arc::ptr_eq(node, other)));
        Ok(map)
    }

    fn address_of(&self, node: &Arc<Node>) -> Option<String> {
        let known = self.known.lock();
        known.iter().find(|(_, other)| Arc::ptr_eq(node, other)).map(|(name, _)| name.clone())
    }

    /// The node at an address. If it is a new one, it starts to connect.
    fn at(&self, host: &str, port: u16) -> Result<Arc<Node>, StoreError> {
        let address = format!("{host}:{port}");
        let mut known = self.known.lock();
        if let Some(node) = known.get(&address) {
            return Ok(node.clone());
        }
        let server = self.dial.endpoint_at(host, port, self.tls, &self.login)?;
        let node = Arc::new(Node::start(Target::Server(Box::new(server)), self.dial.clone())?);
        known.insert(address, node.clone());
        Ok(node)
    }
}

fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn slots() -> redis::Cmd {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    command
}
