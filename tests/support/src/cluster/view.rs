//! What a node knows of the others.

use std::collections::BTreeMap;

use crate::server::Server;

/// A node's answer to `CLUSTER NODES`.
#[derive(Debug)]
pub(super) struct View(Vec<Peer>);

#[derive(Debug)]
struct Peer {
    id: String,
    port: u16,
    flags: Vec<String>,
    master: String,
    slots: Vec<(u16, u16)>,
}

impl View {
    pub(super) fn of(node: &Server) -> Self {
        let answer: String = node.command(&["CLUSTER", "NODES"]);
        Self(answer.lines().map(peer).collect())
    }

    /// Whether it knows all of these, by their ports, and has talked to them.
    pub(super) fn knows(&self, ports: &[u16]) -> Result<(), String> {
        ports.iter().try_for_each(|port| self.well(*port).map(drop))
    }

    /// Whether all of these are well, no slot is nobody's, and none is had by anybody else.
    pub(super) fn complete(&self, ports: &[u16]) -> Result<(), String> {
        self.knows(ports)?;
        let slots = self.slots();
        if let Some(gone) = slots.values().find(|port| !ports.contains(port)) {
            return Err(format!("port {gone} has slots, and does not run"));
        }
        let count: u32 = slots.keys().map(|(first, last)| u32::from(last - first) + 1).sum();
        if count == 16384 { Ok(()) } else { Err(format!("{count} slots are assigned")) }
    }

    pub(super) fn owner(&self, slot: u16) -> Option<u16> {
        let owns = |peer: &&Peer| peer.slots.iter().any(|(a, b)| (*a..=*b).contains(&slot));
        self.0.iter().find(owns).map(|peer| peer.port)
    }

    pub(super) fn owners(&self) -> Vec<u16> {
        let owners = self.0.iter().filter(|peer| !peer.slots.is_empty());
        owners.map(|peer| peer.port).collect()
    }

    pub(super) fn replicas_of(&self, master: u16) -> Vec<u16> {
        let master = self.0.iter().find(|peer| peer.port == master);
        let id = &master.expect("a node knows all others").id;
        self.0.iter().filter(|peer| peer.master == *id).map(|peer| peer.port).collect()
    }

    /// Whether another node has the same masters, with the same slots and replicas.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let known = |peer: &Peer| {
            let same = other.0.iter().find(|same| same.id == peer.id);
            same.is_some_and(|same| same.master == peer.master && same.slots == peer.slots)
        };
        self.0.iter().all(known)
    }

    /// Who has which slots.
    fn slots(&self) -> BTreeMap<(u16, u16), u16> {
        let slots = |peer: &Peer| {
            let port = peer.port;
            peer.slots.clone().into_iter().map(move |range| (range, port))
        };
        self.0.iter().flat_map(slots).collect()
    }

    fn well(&self, port: u16) -> Result<&Peer, String> {
        let peer = self.0.iter().find(|peer| peer.port == port);
        let peer = peer.ok_or_else(|| format!("it does not know port {port}"))?;
        match peer.flags.iter().find(|flag| flag.starts_with("fail") || *flag == "handshake") {
            None => Ok(peer),
            Some(flag) => Err(format!("port {port} is in state {flag}")),
        }
    }
}

/// `id host:port@bus,name flags master ping pong epoch link slots...`; a slot on the move is in
/// brackets, and had as before.
fn peer(line: &str) -> Peer {
    let words: Vec<&str> = line.split(' ').collect();
    let (_, port) = words[1].split_once(':').unwrap();
    let slots = words[8..].iter().filter(|slots| !slots.starts_with('['));
    Peer {
        id: words[0].to_owned(),
        port: port.split_once('@').unwrap().0.parse().unwrap(),
        flags: words[2].split(',').map(str::to_owned).collect(),
        master: words[3].to_owned(),
        slots: slots.map(|slots| range(slots)).collect(),
    }
}

fn range(slots: &str) -> (u16, u16) {
    let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
    (first.parse().unwrap(), last.parse().unwrap())
}
