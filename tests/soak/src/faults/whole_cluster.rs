//! A cluster of three masters and three replicas.

use std::thread;
use std::time::Duration;

use fastrand::Rng;
use test_support::{Cluster, Flavor, Server};

use super::{Kind, Stage, moment};
use crate::now::{SECOND, now};

pub(crate) struct WholeCluster {
    cluster: Cluster,
    killed: Option<usize>,
}

impl WholeCluster {
    pub(crate) fn start() -> Self {
        Self { cluster: Cluster::start(Flavor::Valkey8), killed: None }
    }

    fn any_master(&self, rng: &mut Rng) -> usize {
        rng.choice(self.cluster.masters()).unwrap()
    }

    /// The slot of two rules' keys of this second, and so of calls that are made right now.
    fn slot_in_use(&self) -> u16 {
        loop {
            let second = now() / SECOND;
            thread::sleep(Duration::from_millis(200));
            let pattern = format!("*{{{second}-*");
            let keys = self.cluster.masters().into_iter().find_map(|master| {
                let keys: Vec<String> = self.cluster.nodes()[master].command(&["KEYS", &pattern]);
                keys.into_iter().next()
            });
            if let Some(key) = keys {
                return self.cluster.slot(&key);
            }
        }
    }
}

impl Stage for WholeCluster {
    const NAME: &'static str = "cluster";
    const KINDS: &'static [Kind<Self>] = &[
        Kind::new("failover by command", 3000, |stage, rng| {
            let master = stage.any_master(rng);
            stage.cluster.promote(stage.cluster.replicas_of(master)[0]);
        }),
        Kind::new("master killed, replica promoted", 6000, |stage, rng| {
            let master = stage.any_master(rng);
            stage.cluster.node(master).kill();
            stage.killed = Some(master);
            stage.cluster.settle();
        }),
        Kind::new("slot in use moved", 1500, |stage, rng| {
            let slot = stage.slot_in_use();
            let mut others = stage.cluster.masters();
            others.retain(|master| *master != stage.cluster.owner(slot));
            let resharding = stage.cluster.reshard(slot, rng.choice(others).unwrap());
            // One of the two keys is here and one is there for a while.
            resharding.move_keys(1);
            thread::sleep(Duration::from_millis(200));
            resharding.finish();
        }),
        Kind::new("scripts of one master flushed", 0, |stage, rng| {
            let master = stage.any_master(rng);
            stage.cluster.nodes()[master].command::<()>(&["SCRIPT", "FLUSH"]);
        }),
        Kind::new("one master stopped (SIGSTOP)", 1500, |stage, rng| {
            let master = stage.any_master(rng);
            stage.cluster.nodes()[master].freeze();
            thread::sleep(moment(rng));
            stage.cluster.nodes()[master].thaw();
        }),
    ];

    fn url(&self) -> String {
        let nodes: Vec<String> =
            self.cluster.nodes().iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis+cluster://{}", nodes.join(","))
    }

    fn servers(&self) -> Vec<String> {
        self.cluster.nodes().iter().map(Server::url).collect()
    }

    fn primaries(&self) -> Vec<usize> {
        self.cluster.masters()
    }

    fn settle(&mut self) {
        if let Some(killed) = self.killed.take() {
            self.cluster.node(killed).start_again();
        }
        self.cluster.settle();
    }
}
