//! Servers that are killed, full, loading or cut off, and what they do to calls.

use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{OnError, StoreError};
use test_support::{Flavor, Server};

use crate::support::calls::{Told, call, connected, on, timed, window};
use crate::support::measure::{Late, at_most, measured};
use crate::support::wait::{ms, secs, until};

/// A server that is killed takes no call with it: each is decided without it, at once. When it is
/// back it decides again.
#[test]
fn a_killed_server() {
    measured(killed);
}

fn killed() -> Result<(), Late> {
    let mut server = Server::start(Flavor::Installed);
    let limiter = connected(on(server.url()).on_error(OnError::Local));
    let rule = window(100_000);
    for _ in 0..3 {
        assert!(call(&limiter, &rule, "key").by_server());
        server.kill();
        let start = Instant::now();
        while start.elapsed() < ms(300) {
            let (took, told) = timed(|| call(&limiter, &rule, "key"));
            assert_eq!(told, Told::Local(true));
            at_most(ms(20), "a call", took)?;
            thread::sleep(ms(1));
        }
        server.start_again();
        // At the latest after the longest pause between two attempts.
        let took = until(secs(3), "a decision", || call(&limiter, &rule, "key").by_server());
        at_most(ms(800), "until the server decides", took)?;
        // What it was told while it was down is not known to it, and what it counted is gone.
        assert_eq!(call(&limiter, &rule, "key"), Told::Admitted(100_000 - 2));
    }
    Ok(())
}

/// A server without memory for another key says so, and is used again as soon as there is some,
/// without a new connection.
#[test]
fn a_server_with_full_memory() {
    for flavor in Flavor::ALL {
        let server = Server::builder(flavor).option("maxmemory-policy", "noeviction").start();
        let limiter = connected(on(server.url()).deadline(secs(10)));
        let (known, open) = (window(5), window(5).with_on_error(OnError::Open));
        let local = window(5).with_on_error(OnError::Local);
        assert_eq!(call(&limiter, &known, "known"), Told::Admitted(4));
        server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
        for key in ["known", "unknown"] {
            let Told::Failed(error) = call(&limiter, &known, key) else { panic!() };
            let expected = format!(
                "the store cannot be used: 127.0.0.1:{}: OOM: its memory is full",
                server.port()
            );
            assert_eq!(error.to_string(), expected);
            assert_eq!(call(&limiter, &open, key), Told::Open);
            assert_eq!(call(&limiter, &local, key), Told::Local(true));
        }
        server.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
        // Refused, and so not counted.
        assert_eq!(call(&limiter, &known, "known"), Told::Admitted(3));
        assert_eq!(clients(&server), 1);
    }
}

/// How many clients there are besides the one that asks.
fn clients(server: &Server) -> usize {
    server.command::<String>(&["CLIENT", "LIST", "TYPE", "normal"]).lines().count() - 1
}

/// A server that still reads its data says so, and decides as soon as it has read it.
#[test]
fn a_server_that_is_loading() {
    let mut server = Server::builder(Flavor::Installed)
        .option("save", "3600 1000000")
        // In microseconds: some seconds for what is there, and some milliseconds without an answer.
        .option("key-load-delay", "100")
        .option("loading-process-events-interval-bytes", "1024")
        .start();
    server.command::<()>(&["DEBUG", "POPULATE", "20000"]);
    server.command::<()>(&["SAVE"]);
    let limiter = connected(on(server.url()));
    let rule = window(1_000_000);
    assert!(call(&limiter, &rule, "key").by_server());
    server.kill();
    let port = server.port();
    thread::scope(|threads| {
        threads.spawn(|| server.start_again());
        let loading = |told: &Told| {
            let expected = format!("the store cannot be used: 127.0.0.1:{port}: LOADING");
            matches!(told, Told::Failed(error) if error.to_string() == expected)
        };
        until(secs(10), "it is loading", || loading(&call(&limiter, &rule, "key")));
        // It is not there, or it loads, and then it decides.
        until(secs(10), "a decision", || {
            let told = call(&limiter, &rule, "key");
            if let Told::Failed(error) = &told {
                assert!(!matches!(error, StoreError::Reply | StoreError::Permission { .. }));
            }
            told.by_server()
        });
    });
}

/// A connection that the server ends while nobody uses it is replaced before the next call, if that
/// comes no sooner than after about a second.
#[test]
fn a_connection_that_is_cut_while_it_is_idle() {
    measured(cut_while_idle);
}

fn cut_while_idle() -> Result<(), Late> {
    let server = Server::start(Flavor::Installed);
    let limiter = connected(on(server.url()));
    let rule = window(1_000_000);
    // Wherever the limiter is in its rounds: just after a call, and long after one.
    for idle in [ms(0), ms(300), ms(700), ms(990), ms(1_500)] {
        assert!(call(&limiter, &rule, "key").by_server(), "{idle:?}");
        thread::sleep(idle);
        server.command::<()>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        assert_eq!(clients(&server), 0);
        thread::sleep(ABOUT_A_SECOND);
        let told = call(&limiter, &rule, "key");
        at_most(0, "calls without the server", u32::from(!told.by_server()))?;
    }
    Ok(())
}

const ABOUT_A_SECOND: Duration = ms(1_200);

/// A primary that becomes a replica under a limiter's feet refuses nobody: it is left alone until it
/// is a primary again.
#[test]
fn a_primary_that_is_demoted() {
    for flavor in Flavor::ALL {
        let (other, server) = (Server::start(flavor), Server::start(flavor));
        let limiter = connected(on(server.url()).deadline(secs(1)));
        let rule = window(1_000);
        assert_eq!(call(&limiter, &rule, "key"), Told::Admitted(999));
        server.command::<()>(&["REPLICAOF", "127.0.0.1", &other.port().to_string()]);
        let address = format!("127.0.0.1:{}", server.port());
        let expected =
            format!("the store cannot be used: {address} is a replica, and a primary is needed");
        let says_so = |told| match told {
            Told::Failed(error) => error.to_string() == expected,
            other => panic!("{other:?}"),
        };
        until(secs(5), "an error", || says_so(call(&limiter, &rule, "key")));
        server.command::<()>(&["REPLICAOF", "NO", "ONE"]);
        until(secs(5), "a decision", || call(&limiter, &rule, "key").by_server());
    }
}
