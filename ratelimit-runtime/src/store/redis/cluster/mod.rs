//! The servers of a Redis Cluster: who owns which slot, and a connection to each.
//!
//! A task on the [driver](crate::driver) asks any node for the map, at the beginning, from time to
//! time, and whenever a call finds that something has changed. The client's own cluster connection
//! is not used: it sends a call again after a lost connection, when it may have been counted.

mod map;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::{ConnectionAddr, RedisConnectionInfo};
use tokio::sync::{Notify, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use self::map::Map;
use super::dial::Dial;
use super::endpoint::Endpoint;
use super::failure::{self, Question};
use super::node::Node;
use super::pauses::Pauses;
use super::script::Questions;
use super::slot::Slot;
use super::supervisor::Target;
use crate::driver;
use crate::error::{ConfigError, InvalidUrl, StoreError};

/// How often the map is looked at when nothing seems to have changed.
const EVERY: Duration = Duration::from_secs(30);

/// How long one node may take to tell the map before another is asked too.
const NODE_PATIENCE: Duration = Duration::from_millis(300);

/// How many keys are tried to find one of a node: enough for one that has a single slot, mostly.
const MOST_TRIED: u32 = 65_536;

/// How long calls wait for the first map, all of them together: it is nearly always there by then.
const PATIENCE: Duration = Duration::from_millis(250);

/// A cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    shared: Arc<Shared>,
    known: watch::Receiver<Known>,
    task: AbortHandle,
}

/// What the task and the callers share.
#[derive(Debug)]
struct Shared {
    dial: Arc<Dial>,
    /// Where to ask when no other node is known.
    seeds: Vec<Arc<Endpoint>>,
    tls: bool,
    login: RedisConnectionInfo,
    /// By address: masters, and those to which a call was sent on.
    nodes: Mutex<HashMap<String, Arc<Node>>>,
    look: Notify,
}

#[derive(Clone, Debug)]
enum Known {
    Nothing,
    /// The first look goes on, and calls do not wait for it any more.
    StillLooking,
    Map(Arc<Map>),
    /// There has never been a map.
    Failure(StoreError),
}

impl Cluster {
    /// Starts to look for the nodes.
    pub(super) fn start(
        seeds: Vec<redis::ConnectionInfo>,
        dial: Arc<Dial>,
    ) -> Result<Self, ConfigError> {
        let first =
            seeds.first().ok_or(ConfigError::RedisUrl(InvalidUrl::Host { number: 1, of: 1 }))?;
        let tls = matches!(first.addr(), ConnectionAddr::TcpTls { .. });
        let login = first.redis_settings().clone();
        let seeds = seeds.into_iter().map(|info| Arc::new(dial.endpoint(info))).collect();
        let nodes = Mutex::default();
        let shared = Arc::new(Shared { dial, seeds, tls, login, nodes, look: Notify::new() });
        let (publish, known) = watch::channel(Known::Nothing);
        let task = driver::handle()?.spawn(keep(shared.clone(), publish)).abort_handle();
        Ok(Self { shared, known, task })
    }

    /// The owner of a slot; waits a little for the first map.
    pub(super) async fn node(&self, slot: Slot) -> Result<Arc<Node>, StoreError> {
        if let Known::Map(map) = &*self.known.borrow() {
            return map.owner(slot).ok_or_else(no_owner);
        }
        let map = self.map(|known| !matches!(known, Known::Nothing)).await?;
        map.owner(slot).ok_or_else(no_owner)
    }

    /// The map, as soon as so much is known.
    async fn map(&self, enough: impl FnMut(&Known) -> bool) -> Result<Arc<Map>, StoreError> {
        let failed = |reason: &str| StoreError::Connection { reason: reason.to_owned() };
        let mut known = self.known.clone();
        match &*known.wait_for(enough).await.map_err(|_| failed("connecting has ended"))? {
            Known::Map(map) => Ok(map.clone()),
            Known::Failure(error) => Err(error.clone()),
            Known::Nothing | Known::StillLooking => {
                Err(failed("still looking for the nodes of the cluster"))
            }
        }
    }

    /// The node at an address that another one has named.
    pub(super) fn node_at(&self, address: &str, named_by: &Arc<Node>) -> Option<Arc<Node>> {
        let (host, port) = address.rsplit_once(':')?;
        let port = port.parse().ok()?;
        if !is_unknown(host) {
            return self.shared.node(host, port).ok();
        }
        let own = self.shared.address_of(named_by)?;
        self.shared.node(host_of(&own), port).ok()
    }

    /// Asks for a new map.
    pub(super) fn look_again(&self) {
        self.shared.look.notify_one();
    }

    /// Waits until all owners of slots are connected, or one cannot be.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        let is_known = |known: &Known| !matches!(known, Known::Nothing | Known::StillLooking);
        let map = self.map(is_known).await?;
        let mut asked: Vec<&Arc<Node>> = Vec::new();
        for node in map.nodes() {
            if !asked.iter().any(|other| Arc::ptr_eq(node, other)) {
                match self.questions_for(&map, node) {
                    // A key that is just moving is one that the cluster takes care of.
                    Some(questions) => node.ready_for(&questions, failure::is_moving).await?,
                    None => node.ready().await?,
                }
                asked.push(node);
            }
        }
        Ok(())
    }
}

impl Cluster {
    /// Questions about a key of a node: whether a cluster is down, nodes say to those who ask for a key.
    fn questions_for(&self, map: &Map, node: &Arc<Node>) -> Option<Questions> {
        let probe = &self.shared.dial.probe_key;
        let keys = (0..MOST_TRIED).map(|number| format!("{probe}:{number}"));
        let is_there =
            |key: &String| map.owner(Slot::of(key)).is_some_and(|owner| Arc::ptr_eq(&owner, node));
        keys.into_iter().find(is_there).map(|key| Questions::about(&key))
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

/// Keeps the map.
async fn keep(shared: Arc<Shared>, publish: watch::Sender<Known>) {
    let mut pauses = Pauses::new();
    let mut look = first_look(&shared, &publish).await;
    loop {
        match look {
            Ok(map) => {
                pauses.reset();
                publish.send_replace(Known::Map(Arc::new(map)));
                // Nobody asking for so long is fine.
                let _ = timeout(EVERY, shared.look.notified()).await;
            }
            Err(error) => {
                publish.send_if_modified(|known| {
                    // An old map is better than none.
                    let first = !matches!(known, Known::Map(_));
                    if first {
                        *known = Known::Failure(error);
                    }
                    first
                });
            }
        }
        // Also when it worked: many calls may ask at once, and many instances.
        pauses.wait().await;
        look = shared.look().await;
    }
}

/// Of this look alone it is not known beforehand whether it makes sense to wait for it.
async fn first_look(
    shared: &Arc<Shared>,
    publish: &watch::Sender<Known>,
) -> Result<Map, StoreError> {
    let mut look = std::pin::pin!(shared.look());
    if let Ok(done) = timeout(PATIENCE, look.as_mut()).await {
        return done;
    }
    publish.send_replace(Known::StillLooking);
    look.await
}

impl Shared {
    /// Asks one node after the other for the map, and when none of them tells it, all seeds.
    async fn look(self: &Arc<Self>) -> Result<Map, StoreError> {
        let mut known: Vec<(String, Arc<Node>)> =
            self.nodes.lock().iter().map(|(name, node)| (name.clone(), node.clone())).collect();
        // Not always the same one first: it may be the one that is wrong.
        fastrand::shuffle(&mut known);
        for (name, node) in known.iter().filter(|(_, node)| node.supervisor().is_up()) {
            let patience = NODE_PATIENCE.min(self.dial.connect_timeout);
            if let Ok(Ok(answer)) = timeout(patience, node.ask(&slots())).await
                && let Ok(map) = self.read(&answer, host_of(name))
            {
                return Ok(map);
            }
        }
        let mut asking = JoinSet::new();
        for seed in &self.seeds {
            let (shared, seed) = (self.clone(), seed.clone());
            asking.spawn(async move { shared.ask_seed(&seed).await });
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

    async fn ask_seed(&self, seed: &Endpoint) -> Result<Map, StoreError> {
        let address = seed.address();
        let mut link = self.dial.open(seed).await?;
        let command = slots();
        let asking = link.send_packed_command(&command);
        let Ok(answer) = timeout(self.dial.connect_timeout, asking).await else {
            return Err(seed.timed_out(Question::SLOTS));
        };
        let answer = answer.and_then(redis::Value::extract_error).map_err(|error| {
            if failure::is_alone(&error) {
                let reason = format!("{address} is alone and no cluster, reached by redis://");
                return seed.hold_back(StoreError::Server { reason });
            }
            match seed.failed(&error, Some(Question::SLOTS)) {
                StoreError::Server { reason } if failure::is_unknown(&error) => {
                    let advice = "an address that hides its nodes is reached by redis://";
                    seed.hold_back(StoreError::Server { reason: format!("{reason}: {advice}") })
                }
                error => error,
            }
        })?;
        let map = self.read(&answer, host_of(&address.to_string()))?;
        seed.works();
        Ok(map)
    }

    /// The map in an answer of the node on a host, and only the nodes of this map from now on.
    fn read(&self, answer: &redis::Value, host: &str) -> Result<Map, StoreError> {
        let map = Map::read(answer, host, |host, port| self.node(host, port))?;
        self.nodes.lock().retain(|_, node| map.nodes().any(|other| Arc::ptr_eq(node, other)));
        Ok(map)
    }

    fn address_of(&self, node: &Arc<Node>) -> Option<String> {
        let nodes = self.nodes.lock();
        nodes.iter().find(|(_, other)| Arc::ptr_eq(node, other)).map(|(name, _)| name.clone())
    }

    /// The node at an address; it connects from now on.
    fn node(&self, host: &str, port: u16) -> Result<Arc<Node>, StoreError> {
        let address = format!("{host}:{port}");
        let mut nodes = self.nodes.lock();
        if let Some(node) = nodes.get(&address) {
            return Ok(node.clone());
        }
        let server = self.dial.endpoint_at(host, port, self.tls, &self.login)?;
        let node = Arc::new(Node::start(Target::Server(Box::new(server)), self.dial.clone())?);
        nodes.insert(address, node.clone());
        Ok(node)
    }
}

/// Whether a host is one that the cluster does not know: it is that of the node that says so.
fn is_unknown(host: &str) -> bool {
    matches!(host, "" | "?")
}

fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn slots() -> redis::Cmd {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    command
}
