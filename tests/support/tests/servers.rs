//! The servers start, answer, and end with their owner.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fs;

use test_support::{Flavor, Link, Node, Server, unique};

/// Whether a process runs; one that is dead and not yet buried does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn each_server_is_the_version_it_is_said_to_be() {
    let version = |flavor| Server::shared(flavor).info("redis_version");
    assert!(!version(Flavor::Installed).is_empty());
    assert!(version(Flavor::Redis8).starts_with("8.0."));
    assert!(Server::shared(Flavor::Valkey8).info("valkey_version").starts_with("8.1."));
}

#[test]
fn tcp_and_unix_socket_lead_to_the_same_server() {
    let server = Server::start(Flavor::Installed);
    server.command::<()>(&["SET", "key", "value"]);
    let mut unix = redis::Client::open(server.unix_url()).unwrap().get_connection().unwrap();
    assert_eq!(redis::cmd("GET").arg("key").query::<String>(&mut unix).unwrap(), "value");
    server.flush();
    assert_eq!(server.command::<usize>(&["DBSIZE"]), 0);
    assert_eq!(server.calls("set"), 1);
    assert_eq!(server.calls("hset"), 0);
}

#[test]
fn a_server_ends_when_it_is_dropped() {
    let server = Server::start(Flavor::Redis8);
    let pid = server.pid().to_string();
    assert!(runs(&pid));
    drop(server);
    assert!(!runs(&pid));
}

#[test]
fn a_server_comes_back_with_what_it_keeps() {
    let mut server = Server::builder(Flavor::Valkey8).option("appendonly", "yes").start();
    server.command::<()>(&["SET", "kept", "1"]);
    server.shut_down();
    assert!(redis::Client::open(server.url()).unwrap().get_connection().is_err());
    server.start_again();
    assert_eq!(server.command::<u8>(&["GET", "kept"]), 1);
}

#[test]
fn a_frozen_server_accepts_and_does_not_answer() {
    let server = Server::start(Flavor::Installed);
    let mut connection = server.connect();
    connection.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    server.freeze();
    assert!(redis::cmd("PING").query::<String>(&mut connection).is_err());
    server.thaw();
    assert_eq!(server.command::<String>(&["PING"]), "PONG");
}

#[test]
fn users_are_let_in_and_nobody_else() {
    for flavor in Flavor::ALL {
        let mut server = Server::builder(flavor)
            .login("admin", "a b/c?")
            .user("app", "w:rd", "~rate:* +ping +get")
            .start();
        let denied = |url: &str, words: &[&str]| {
            let connection = redis::Client::open(url).unwrap().get_connection();
            let mut command = redis::cmd(words[0]);
            command.arg(&words[1..]);
            let answer = connection
                .and_then(|mut connection| command.query::<redis::Value>(&mut connection));
            answer.map_or_else(|e| e.code().unwrap_or("no code").to_owned(), |_| "no".to_owned())
        };
        let anonymous = format!("redis://127.0.0.1:{}/", server.port());
        assert_eq!(denied(&anonymous, &["PING"]), "NOAUTH");
        let app = server.url_of("app", "w:rd");
        for _ in 0..2 {
            assert_eq!(denied(&server.url(), &["SET", "rate:1", "x"]), "no");
            assert_eq!(denied(&server.unix_url(), &["PING"]), "no");
            assert_eq!(denied(&app, &["GET", "rate:1"]), "no");
            assert_eq!(denied(&app, &["GET", "other"]), "NOPERM");
            assert_eq!(denied(&app, &["SET", "rate:1", "x"]), "NOPERM");
            server.kill();
            server.start_again();
        }
    }
}

#[test]
fn a_server_dies_with_a_killed_test_process() {
    if let Some(mut link) = Link::attach() {
        link.send(Server::shared(Flavor::Installed).pid());
        link.recv();
        return;
    }
    let mut node = Node::start("a_server_dies_with_a_killed_test_process");
    let pid = node.recv();
    assert!(runs(&pid));
    drop(node); // kills it
    for _ in 0..200 {
        if !runs(&pid) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the server outlived the process that started it");
}

#[test]
fn names_are_unique() {
    assert_ne!(unique("x"), unique("x"));
}
