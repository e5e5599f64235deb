//! A slot on its way from one master to another.

use super::Cluster;
use crate::server::Server;

/// A slot on the move; a test can stop between any two steps, as the tools that do this can.
///
/// Until [`finish`](Self::finish) the old master sends clients to the new one for keys that it does
/// not have (`ASK`).
///
/// ```no_run
/// # use test_support::{Cluster, Flavor};
/// let cluster = Cluster::start(Flavor::Installed);
/// let slot = cluster.slot("{tag}");
/// let to = cluster.masters().into_iter().find(|node| *node != cluster.owner(slot)).unwrap();
/// let resharding = cluster.reshard(slot, to);
/// resharding.move_keys(1); // and look at what clients do
/// resharding.finish();
/// ```
#[derive(Debug)]
#[must_use = "the slot stays on the move until it is finished"]
pub struct Resharding<'a> {
    cluster: &'a Cluster,
    slot: u16,
    from: usize,
    to: usize,
}

impl<'a> Resharding<'a> {
    pub(super) fn begin(cluster: &'a Cluster, slot: u16, to: usize) -> Self {
        let from = cluster.owner(slot);
        assert_ne!(from, to, "slot {slot} is there already");
        let resharding = Self { cluster, slot, from, to };
        // In this order: whoever is sent on must be let in.
        resharding.set(to, &["IMPORTING", &id(resharding.node(from))]);
        resharding.set(from, &["MIGRATING", &id(resharding.node(to))]);
        resharding
    }

    /// The master that had the slot.
    pub fn from(&self) -> usize {
        self.from
    }

    /// The master that gets it.
    pub fn to(&self) -> usize {
        self.to
    }

    /// Moves up to so many keys, and returns how many there were to move.
    pub fn move_keys(&self, most: usize) -> usize {
        let (slot, most) = (self.slot.to_string(), most.to_string());
        let from = self.node(self.from);
        let keys: Vec<String> = from.command(&["CLUSTER", "GETKEYSINSLOT", &slot, &most]);
        if !keys.is_empty() {
            let port = self.node(self.to).port().to_string();
            let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
            if let Some(login) = from.login() {
                words.extend(["AUTH2", &login.user, &login.password]);
            }
            words.push("KEYS");
            words.extend(keys.iter().map(String::as_str));
            from.command::<()>(&words);
        }
        keys.len()
    }

    /// Moves what is left, hands the slot over, and waits until all nodes know.
    pub fn finish(self) {
        while self.move_keys(100) > 0 {}
        let id = id(self.node(self.to));
        self.set(self.to, &["NODE", &id]);
        self.set(self.from, &["NODE", &id]);
        self.cluster.settle();
    }

    fn node(&self, node: usize) -> &Server {
        &self.cluster.nodes[node]
    }

    fn set(&self, node: usize, how: &[&str]) {
        let slot = self.slot.to_string();
        let words = [&["CLUSTER", "SETSLOT", &slot], how].concat();
        self.node(node).command::<()>(&words);
    }
}

fn id(node: &Server) -> String {
    node.command(&["CLUSTER", "MYID"])
}
