//! A primary and a replica under three sentinels.

use std::thread;

use test_support::{Flavor, Sentinels, Server};

use super::{Kind, Stage, moment};

pub(crate) struct UnderSentinel {
    sentinels: Sentinels,
    killed: Option<usize>,
}

impl UnderSentinel {
    pub(crate) fn start() -> Self {
        Self { sentinels: Sentinels::start(Flavor::Redis8), killed: None }
    }
}

impl Stage for UnderSentinel {
    const NAME: &'static str = "sentinel";
    const KINDS: &'static [Kind<Self>] = &[
        // From here the old primary is told some ten seconds later: that is a part of `settle`.
        Kind::new("failover by command", 10_000, |stage, _| stage.sentinels.failover()),
        // Short enough, mostly, not to be taken for dead.
        Kind::new("primary stopped (SIGSTOP)", 1500, |stage, rng| {
            let primary = stage.sentinels.primary();
            stage.sentinels.server(primary).freeze();
            thread::sleep(moment(rng));
            stage.sentinels.server(primary).thaw();
        }),
        Kind::new("primary killed, replica promoted", 12_000, |stage, _| {
            let primary = stage.sentinels.primary();
            stage.sentinels.server(primary).kill();
            stage.killed = Some(primary);
            stage.sentinels.settle();
        }),
    ];

    fn url(&self) -> String {
        let sentinels: Vec<String> = self
            .sentinels
            .sentinels()
            .iter()
            .map(|server| format!("127.0.0.1:{}", server.port()))
            .collect();
        format!("redis+sentinel://{}/{}", sentinels.join(","), self.sentinels.name())
    }

    fn servers(&self) -> Vec<String> {
        self.sentinels.servers().iter().map(Server::url).collect()
    }

    fn primaries(&self) -> Vec<usize> {
        vec![self.sentinels.primary()]
    }

    fn settle(&mut self) {
        if let Some(killed) = self.killed.take() {
            self.sentinels.server(killed).start_again();
        }
        self.sentinels.settle();
    }
}
