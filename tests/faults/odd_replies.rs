//! Servers that answer with something else than a decision.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ratelimit_kit::{OnError, Rule, StoreError};
use test_support::{Flavor, Reply, Server, Stub};

use crate::support::calls::{Told, block_on, call, call_async, connected, on, timed, window};
use crate::support::measure::{Late, at_most, measured};
use crate::support::wait::{ms, secs, until};

/// The deadline of a check here: far longer than a stub needs to answer.
const DEADLINE: Duration = ms(150);

/// What a check may take at the most.
const LONGEST: Duration = ms(200);

/// How often the limiter's own thread has panicked since this was first asked: nobody else hears of
/// it, since a task that panics takes only its connection with it.
fn panics_of_the_driver() -> usize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() == Some("ratelimit") {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            hook(info);
        }));
    });
    PANICS.load(Ordering::SeqCst)
}

/// A stub that gives this answer to every check, and an easier one to what is asked while connecting.
fn answering(reply: Reply) -> Stub {
    Stub::start(move |words| match words[0].as_slice() {
        b"EVALSHA" if is_a_probe(words) => Reply::bulk([1]),
        b"EVALSHA" => reply.clone(),
        _ => Reply::Usual,
    })
}

/// Whether it is a question of the limiter's own.
fn is_a_probe(words: &[Vec<u8>]) -> bool {
    words[3].ends_with(b":probe")
}

fn four(item: &Reply) -> Reply {
    Reply::array([(); 4].map(|()| item.clone()))
}

/// What a server can answer, and whether it says that the user may not do this.
fn replies() -> Vec<(&'static str, Reply)> {
    let errors = [
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "CLUSTERDOWN The cluster is down",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "NOAUTH Authentication required.",
        "ERR max number of clients reached",
        // Of answers that prove nothing and of those that lead elsewhere there are more than the
        // spec names.
        "NOSCRIPT No matching script. Please use EVAL.",
        "READONLY You can't write against a read only replica.",
        "MOVED 1 127.0.0.1:1",
        "ASK 1 127.0.0.1:1",
        "",
        "\u{fffd}",
    ];
    let mut replies: Vec<(&'static str, Reply)> =
        errors.into_iter().map(|error| (error, Reply::error(error))).collect();
    let minus_one = Reply::Raw(b"$-1\r\n".to_vec());
    replies.extend([
        ("+OK", Reply::simple("OK")),
        (":1", Reply::integer(1)),
        ("$-1", minus_one.clone()),
        ("*0", Reply::array([])),
        ("*4 of x", four(&Reply::bulk("x"))),
        ("*4 of -1", four(&Reply::integer(-1))),
        ("*4 of nothing", four(&minus_one)),
        ("RESP3 null", Reply::Raw(b"_\r\n".to_vec())),
        ("an empty text", Reply::bulk("")),
        ("an admission and nothing else", Reply::bulk([1])),
        ("neither an admission nor a refusal", Reply::bulk([7; 9])),
        ("an admission and garbage", Reply::bulk([1, 255, 255])),
        ("an endless text", Reply::Raw(b"$9223372036854775807\r\n".to_vec())),
        ("an endless list", Reply::Raw(b"*2147483647\r\n".to_vec())),
        ("a length below zero", Reply::Raw(b"$-7\r\n".to_vec())),
        ("1 MiB of A", Reply::Raw(vec![b'A'; 1 << 20])),
        ("the end", Reply::Close),
    ]);
    replies
}

/// Whatever the server answers, it is no decision: the policy of the rule says what happens, in
/// time, and nothing panics.
#[test]
fn b063_every_other_error_or_odd_reply() {
    assert_eq!(panics_of_the_driver(), 0);
    for (name, reply) in replies() {
        measured(|| is_no_decision(name, reply.clone()));
        assert_eq!(panics_of_the_driver(), 0, "{name}");
    }
}

fn is_no_decision(name: &str, reply: Reply) -> Result<(), Late> {
    let stub = answering(reply);
    let limiter = connected(on(stub.url()).deadline(DEADLINE));
    let check = |rule: &Rule, call_number: u32| {
        let (took, told) = timed(|| {
            if call_number.is_multiple_of(2) {
                call(&limiter, rule, "key")
            } else {
                block_on(call_async(&limiter, rule, "key"))
            }
        });
        at_most(LONGEST, name, took)?;
        Ok(told)
    };
    let (closed, open) =
        (window(5).with_on_error(OnError::Closed), window(5).with_on_error(OnError::Open));
    for number in 0..10 {
        match check(&closed, number)? {
            Told::Failed(error) => {
                let denies = name.starts_with("NOPERM") || name.starts_with("NOAUTH");
                let says_so = matches!(error, StoreError::Permission { .. });
                assert_eq!(says_so, denies, "{name}: {error}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    for number in 0..10 {
        assert_eq!(check(&open, number)?, Told::Open, "{name}");
    }
    Ok(())
}

/// What is no protocol at all says nothing about where the next answer begins: the connection is
/// given up. Once the server is in its senses again, so are calls.
#[test]
fn b063_garbage_ends_the_connection() {
    let garbage = [vec![b'A'; 1 << 20], b"?what\r\n".to_vec(), b"$x\r\n".to_vec()];
    for garbage in garbage {
        let stub = answering(Reply::Raw(garbage.clone()));
        let limiter = connected(on(stub.url()).deadline(DEADLINE));
        assert_eq!(stub.connections().len(), 1);
        let told = call(&limiter, &window(5), "key");
        assert!(matches!(told, Told::Failed(StoreError::Reply)), "{told:?}");
        until(secs(2), "another connection", || stub.connections().len() > 1);
        stub.stop();
        let _server = Server::builder(Flavor::Installed).port(stub.port()).start();
        let rule = window(5);
        until(secs(3), "a decision", || call(&limiter, &rule, "key").by_server());
    }
}

/// As behind a proxy that hands uploads to one server and calls to another, and knows no EVAL.
#[test]
fn a_server_that_keeps_no_scripts_is_not_given_them_for_ever() {
    let stub = Stub::start(|words| match words[0].as_slice() {
        b"EVALSHA" if is_a_probe(words) => Reply::bulk([1]),
        b"EVALSHA" => Reply::error("NOSCRIPT No matching script. Please use EVAL."),
        b"SCRIPT" => Reply::bulk("0123456789012345678901234567890123456789"),
        _ => Reply::Usual,
    });
    let limiter = connected(on(stub.url()).deadline(secs(10)));
    let uploads = stub.calls("SCRIPT").len();
    let Told::Failed(StoreError::Server { reason }) = call(&limiter, &window(1), "key") else {
        panic!("the server has decided nothing");
    };
    assert!(reason.contains("unknown command"), "{reason}");
    assert_eq!((stub.calls("SCRIPT").len() - uploads, stub.calls("EVAL").len()), (1, 1));
}
