//! One server that keeps everything on disk, behind a bad network.

use std::thread;
use std::time::Duration;

use test_support::{Flavor, Proxy, Server};

use super::{Kind, Stage, moment};

/// A server, reached through a proxy.
pub(crate) struct OneServer {
    server: Server,
    proxy: Proxy,
}

impl OneServer {
    pub(crate) fn start() -> Self {
        // What was answered is on disk: nothing is ever lost, so nothing may ever be exceeded.
        let server = Server::builder(Flavor::Installed)
            .option("appendonly", "yes")
            .option("appendfsync", "always")
            .start();
        let proxy = Proxy::to(server.port());
        Self { server, proxy }
    }
}

impl Stage for OneServer {
    const NAME: &'static str = "server";
    const KINDS: &'static [Kind<Self>] = &[
        Kind::new("killed, started again", 1500, |stage, rng| {
            stage.server.kill();
            thread::sleep(moment(rng));
            stage.server.start_again();
        }),
        Kind::new("stopped (SIGSTOP)", 1500, |stage, rng| {
            stage.server.freeze();
            thread::sleep(moment(rng));
            stage.server.thaw();
        }),
        Kind::new("scripts flushed", 0, |stage, _| stage.server.command(&["SCRIPT", "FLUSH"])),
        Kind::new("memory full", 1000, |stage, _| {
            stage.server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
            second();
            stage.server.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
        }),
        Kind::new("replies late by 100 ms", 1000, |stage, _| {
            stage.proxy.replies().delay(Duration::from_millis(100));
            second();
            stage.proxy.pass();
        }),
        // Half of it each way.
        Kind::<Self>::new("20 ms away", 3000, |stage, _| {
            stage.proxy.requests().delay(Duration::from_millis(10));
            stage.proxy.replies().delay(Duration::from_millis(10));
            thread::sleep(Duration::from_secs(3));
            stage.proxy.pass();
        })
        .served(),
        Kind::new("connections half-open", 1000, |stage, _| {
            stage.proxy.lose();
            second();
            stage.proxy.pass();
        }),
        Kind::new("connections cut", 0, |stage, _| stage.proxy.cut()),
        Kind::new("clients killed", 0, |stage, _| {
            stage.server.command::<()>(&["CLIENT", "KILL", "TYPE", "normal"]);
        }),
    ];

    fn url(&self) -> String {
        self.proxy.url()
    }

    fn servers(&self) -> Vec<String> {
        vec![self.server.url()]
    }

    fn primaries(&self) -> Vec<usize> {
        vec![0]
    }

    fn settle(&mut self) {}
}

fn second() {
    thread::sleep(Duration::from_secs(1));
}
