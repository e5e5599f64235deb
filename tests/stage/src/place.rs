//! Where the state of a limiter is: what holds on one server holds on a cluster too.

use ratelimit_kit::LimiterBuilder;
use test_support::{Cluster, Flavor, Server};

use crate::stage::on;

/// One server, or a cluster.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// One server.
    Server(&'a Server),
    /// A cluster.
    Cluster(&'a Cluster),
}

impl Place<'static> {
    /// The server that the tests of this binary share.
    pub fn server() -> Self {
        Self::Server(Server::shared(Flavor::Installed))
    }

    /// The cluster that the tests of this binary share.
    pub fn cluster() -> Self {
        Self::Cluster(Cluster::shared(Flavor::Installed))
    }
}

impl<'a> Place<'a> {
    /// Its address for limiters.
    pub fn url(self) -> String {
        match self {
            Self::Server(server) => server.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// A limiter with keys of its own, that never lets another store answer.
    pub fn limiter(self) -> LimiterBuilder {
        on(self.url())
    }

    /// The servers that have state between them. Their clocks are that of this machine.
    pub fn servers(self) -> Vec<&'a Server> {
        match self {
            Self::Server(server) => vec![server],
            Self::Cluster(cluster) => {
                cluster.masters().into_iter().map(|node| &cluster.nodes()[node]).collect()
            }
        }
    }
}
