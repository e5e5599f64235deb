//! A server that may evict keys.

use std::thread;

use test_support::{Flavor, Link, Log, Node, Server};

use crate::support::calls::{Told, block_on, call, on, window_of};
use crate::support::wait::{ms, secs, until};

const LINE: &str = "the server may evict rate limits";

/// In a process of its own, since the log is the process's.
#[test]
fn b155_a_server_that_may_forget_is_mentioned_once_per_connection() {
    if let Some(link) = Link::attach() {
        return b155_node(link);
    }
    let mut node =
        Node::start("eviction::b155_a_server_that_may_forget_is_mentioned_once_per_connection");
    assert_eq!(node.recv(), "all policies were met");
}

fn b155_node(mut link: Link) {
    let log = Log::start();
    for policy in [
        "allkeys-lru",
        "allkeys-lfu",
        "allkeys-random",
        "volatile-lru",
        "volatile-lfu",
        "volatile-random",
        "volatile-ttl",
        "noeviction",
    ] {
        let server = Server::builder(Flavor::Installed)
            .option("maxmemory", "4mb")
            .option("maxmemory-policy", policy)
            .user("quiet", "pw", "~* &* +@all -info")
            .start();
        let address = format!("127.0.0.1:{}", server.port());
        let lines = || {
            let lines = log.lines(LINE);
            lines.into_iter().filter(|line| line.contains(&address)).collect::<Vec<_>>()
        };
        let expected = usize::from(policy != "noeviction");
        let limiter = on(server.url()).build().unwrap();
        block_on(limiter.ready()).unwrap();
        let rule = window_of(2, secs(3_600));
        for left in [1, 0] {
            assert_eq!(call(&limiter, &rule, "key"), Told::Admitted(left));
        }
        // A thread of its own writes it, so that no call waits for the log.
        until(secs(5), "a line", || lines().len() >= expected);
        assert_eq!(lines().len(), expected, "{policy}");
        for line in lines() {
            assert!(line.contains(" WARN ") && line.contains(policy), "{line}");
        }

        let mut foreign = server.connect();
        for batch in 0..60 {
            let mut pipeline = redis::pipe();
            for number in 0..1_000 {
                let key = format!("foreign:{batch}:{number}");
                pipeline.cmd("SET").arg(key).arg("x".repeat(100)).arg("EX").arg(3_600).ignore();
            }
            // With noeviction the memory is full before the end.
            let _ = pipeline.query::<()>(&mut foreign);
        }
        // By the server, or, where its memory is full, by nobody.
        let told = call(&limiter, &rule, "key");
        assert!(told.by_server() || matches!(told, Told::Failed(_)), "{policy}: {told:?}");
        let ours: Vec<String> = redis::cmd("KEYS").arg("redis*").query(&mut foreign).unwrap();
        for key in ours {
            let expiry: i64 = redis::cmd("PTTL").arg(&key).query(&mut foreign).unwrap();
            assert_ne!(expiry, -1, "{key} has no expiry");
        }
        assert_eq!(lines().len(), expected, "{policy}: no second line");

        // Another connection, another line.
        let _: i64 = server.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        thread::sleep(ms(20));
        until(
            secs(5),
            "used again",
            || !matches!(call(&limiter, &rule, "other"), Told::Failed(e) if e.kind() == "connection"),
        );
        until(secs(5), "a line for the new connection", || lines().len() >= 2 * expected);
        assert_eq!(lines().len(), 2 * expected, "{policy}: after a new connection");

        // Who may not ask does not know.
        let quiet = on(server.url_of("quiet", "pw")).build().unwrap();
        // Which says so when memory is full.
        let _ = block_on(quiet.ready());
        assert_eq!(lines().len(), 2 * expected, "{policy}: without INFO");
    }
    link.send("all policies were met");
}
