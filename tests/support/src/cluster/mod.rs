//! A cluster of its own for a test, or one that the tests of a binary share.

mod resharding;
mod view;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use self::resharding::Resharding;
use self::view::View;
use crate::flavor::Flavor;
use crate::login::Login;
use crate::port::Port;
use crate::server::{Server, ServerBuilder};
use crate::wait::until_ok;

/// How long a node may be silent until the others give it up, in milliseconds.
const NODE_TIMEOUT: &str = "2000";

/// The slots of the three masters, at first.
const SLOTS: [RangeInclusive<u16>; 3] = [0..=5460, 5461..=10922, 10923..=16383];

/// Three masters and a replica of each, on free ports; it ends when this is dropped.
///
/// Nodes are known by their number: at first 0, 1 and 2 are masters and 3, 4 and 5 their replicas.
/// Each is a [`Server`] like any other: it can be killed, started again and frozen. What comes of
/// that takes the cluster some seconds; [`settle`](Self::settle) waits for it.
///
/// ```no_run
/// # use test_support::{Cluster, Flavor};
/// let mut cluster = Cluster::start(Flavor::Redis8);
/// let master = cluster.owner(cluster.slot("key"));
/// let replica = cluster.replicas_of(master)[0];
/// cluster.nodes()[master].command::<()>(&["SCRIPT", "FLUSH"]);
/// cluster.promote(replica); // in good order
/// cluster.node(replica).kill(); // and this is none
/// cluster.settle();
/// assert_eq!(cluster.owner(cluster.slot("key")), master);
/// ```
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Server>,
    /// On which the nodes talk to each other.
    buses: Vec<Port>,
}

impl Cluster {
    /// A cluster for one test alone.
    pub fn start(flavor: Flavor) -> Self {
        Self::of(&Server::builder(flavor))
    }

    /// A cluster whose nodes have further options.
    pub fn of(options: &ServerBuilder) -> Self {
        let buses: Vec<Port> = (0..2 * SLOTS.len()).map(|_| Port::free()).collect();
        let nodes = buses.iter().map(|bus| node(options, bus)).collect();
        let cluster = Self { nodes, buses };
        cluster.introduce();
        cluster.assign();
        cluster.settle();
        cluster
    }

    /// The cluster that all tests of this binary share: use [`unique`](crate::unique) names, and
    /// leave its nodes and its slots alone.
    pub fn shared(flavor: Flavor) -> &'static Self {
        static SHARED: [OnceLock<Cluster>; Flavor::ALL.len()] =
            [const { OnceLock::new() }; Flavor::ALL.len()];
        SHARED[flavor as usize].get_or_init(|| Self::start(flavor))
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// One node, to kill it or to start it again.
    pub fn node(&mut self, node: usize) -> &mut Server {
        &mut self.nodes[node]
    }

    /// The addresses of all nodes for clients, running or not.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    /// The address of the cluster in one: `redis+cluster://host:port,host:port`, with the login, if
    /// any.
    pub fn url(&self) -> String {
        let nodes = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port()));
        self.url_with("redis", nodes)
    }

    /// The same for clients that speak TLS, if its nodes were told to.
    pub fn tls_url(&self) -> String {
        let nodes = self.nodes.iter().map(|node| format!("localhost:{}", node.tls_port()));
        self.url_with("rediss", nodes)
    }

    fn url_with(&self, scheme: &str, nodes: impl Iterator<Item = String>) -> String {
        let login = self.nodes[0].login().map(Login::credentials).unwrap_or_default();
        let nodes: Vec<String> = nodes.collect();
        format!("{scheme}+cluster://{login}{}", nodes.join(","))
    }

    /// The slot of a key.
    pub fn slot(&self, key: &str) -> u16 {
        self.speaker().command(&["CLUSTER", "KEYSLOT", key])
    }

    /// The master that has a slot, as the cluster sees it.
    pub fn owner(&self, slot: u16) -> usize {
        let owner = self.view().owner(slot);
        self.by_port(owner.unwrap_or_else(|| panic!("nobody has slot {slot}")))
    }

    /// The nodes that have slots, as the cluster sees it.
    pub fn masters(&self) -> Vec<usize> {
        let masters = self.view().owners();
        masters.into_iter().map(|port| self.by_port(port)).collect()
    }

    /// The replicas of a master, as the cluster sees it.
    pub fn replicas_of(&self, master: usize) -> Vec<usize> {
        let replicas = self.view().replicas_of(self.nodes[master].port());
        replicas.into_iter().map(|port| self.by_port(port)).collect()
    }

    /// Makes a replica the master of its slots, in good order, and waits until all agree; the
    /// master becomes its replica.
    pub fn promote(&self, replica: usize) {
        let node = &self.nodes[replica];
        node.command::<()>(&["CLUSTER", "FAILOVER"]);
        let promoted = until_ok(|| match node.info("role").as_str() {
            "master" => Ok(()),
            role => Err(role.to_owned()),
        });
        promoted.unwrap_or_else(|role| panic!("node {replica} is still a {role}"));
        self.settle();
    }

    /// Begins to move a slot to another master, with all that is in it.
    pub fn reshard(&self, slot: u16, to: usize) -> Resharding<'_> {
        Resharding::begin(self, slot, to)
    }

    /// Waits until the nodes that run agree on who has which slots, every slot is had by one of
    /// them, and every replica has what its master has. Those that were killed or frozen must
    /// have been given up by then.
    pub fn settle(&self) {
        if let Err(why) = until_ok(|| self.settled()) {
            panic!("the cluster does not come to rest: {why}");
        }
    }

    fn settled(&self) -> Result<(), String> {
        let running: Vec<&Server> = self.running().collect();
        let ports: Vec<u16> = running.iter().map(|node| node.port()).collect();
        let first = View::of(running[0]);
        for node in running {
            let name = format!("node {}", self.by_port(node.port()));
            let state: String = node.command(&["CLUSTER", "INFO"]);
            if !state.contains("cluster_state:ok") {
                return Err(format!("{name} says {state}"));
            }
            let view = View::of(node);
            view.complete(&ports).map_err(|why| format!("{name} says {why}"))?;
            if !view.agrees(&first) {
                return Err(format!("{name} says {view:?}, not {first:?}"));
            }
            if node.info("role") == "slave" && node.info("master_link_status") != "up" {
                return Err(format!("{name} has no link to its master"));
            }
        }
        Ok(())
    }

    /// Lets everybody know everybody.
    fn introduce(&self) {
        for (number, node) in self.nodes.iter().enumerate() {
            // Unlike epochs from the beginning: nothing is left to be sorted out among them.
            let epoch = (number + 1).to_string();
            node.command::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
        }
        for (number, node) in self.nodes.iter().enumerate() {
            for (other, bus) in self.nodes.iter().zip(&self.buses).skip(number + 1) {
                let (port, bus) = (other.port().to_string(), bus.number().to_string());
                node.command::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
            }
        }
        let ports: Vec<u16> = self.nodes.iter().map(Server::port).collect();
        let met = until_ok(|| self.nodes.iter().try_for_each(|node| View::of(node).knows(&ports)));
        met.unwrap_or_else(|why| panic!("the nodes do not meet: {why}"));
    }

    /// Gives the masters their slots and their replicas.
    fn assign(&self) {
        let (masters, replicas) = self.nodes.split_at(SLOTS.len());
        for ((master, replica), slots) in masters.iter().zip(replicas).zip(SLOTS) {
            let (first, last) = (slots.start().to_string(), slots.end().to_string());
            master.command::<()>(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
            let id: String = master.command(&["CLUSTER", "MYID"]);
            replica.command::<()>(&["CLUSTER", "REPLICATE", &id]);
        }
    }

    fn running(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().filter(|node| node.runs())
    }

    /// A node that can be asked.
    fn speaker(&self) -> &Server {
        self.running().next().expect("no node runs")
    }

    fn view(&self) -> View {
        View::of(self.speaker())
    }

    fn by_port(&self, port: u16) -> usize {
        let found = self.nodes.iter().position(|node| node.port() == port);
        found.unwrap_or_else(|| panic!("port {port} is no node's"))
    }
}

fn node(options: &ServerBuilder, bus: &Port) -> Server {
    options
        .clone()
        .option("cluster-enabled", "yes")
        .option("cluster-port", &bus.number().to_string())
        .option("cluster-node-timeout", NODE_TIMEOUT)
        // However long a replica has been without its master, it can take its place.
        .option("cluster-replica-validity-factor", "0")
        .option("cluster-allow-replica-migration", "no")
        .option("repl-diskless-sync-delay", "0")
        .start()
}
