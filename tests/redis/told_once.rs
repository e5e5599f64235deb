//! What is said of a store that does not answer: a line when it is gone, and one when it is back.

use std::thread;

use ratelimit_kit::{OnError, Rule};
use test_support::{Flavor, Link, Log, Node, Server};

use crate::calls::{Told, call, connected, on, window};
use crate::wait::{ms, secs, until};

const GONE: &str = "the rate limit store does not answer";
const BACK: &str = "the rate limit store answers again";

/// One line each, with the cause, how long it lasted, and how many calls it was.
#[test]
fn an_outage_is_two_lines() {
    let Some(link) = Link::attach() else { return alone("told_once::an_outage_is_two_lines") };
    let log = Log::start();
    let mut server = Server::start(Flavor::Installed);
    let limiter = connected(on(server.url()).on_error(OnError::Open));
    let rule = window(1_000_000);
    assert!(call(&limiter, &rule, "key").by_server());
    server.kill();
    for _ in 0..100 {
        assert_eq!(call(&limiter, &rule, "key"), Told::Open);
        thread::sleep(ms(2));
    }
    let gone = log.lines(GONE);
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert!(gone[0].contains(" WARN ") && gone[0].contains(&server.port().to_string()), "{gone:?}");
    server.start_again();
    let mut more = 0;
    until(secs(5), "a decision", || {
        let told = call(&limiter, &rule, "key");
        more += u32::from(!told.by_server());
        told.by_server()
    });
    let back = one_line_back(&log, || assert!(call(&limiter, &rule, "key").by_server()));
    assert!(
        back.contains(" INFO ") && back.contains(&format!("affected={}", 100 + more)),
        "{back}"
    );
    assert!(back.contains("lasted="), "{back}");
    assert_eq!(log.lines(GONE).len(), 1);
    say_so(link);
}

/// A store that answers one rule and not the other, as a cluster does without one of its nodes, does
/// not come and go with each call.
#[test]
fn a_store_that_answers_half_of_the_calls_is_two_lines() {
    let Some(link) = Link::attach() else {
        return alone("told_once::a_store_that_answers_half_of_the_calls_is_two_lines");
    };
    let log = Log::start();
    let server = Server::builder(Flavor::Installed).user("app", "pw", "~*:good:* +@all").start();
    let limiter = connected(on(server.url_of("app", "pw")).on_error(OnError::Open));
    let [good, bad] = ["good", "bad"].map(|name| Rule::new(name, window(1_000_000).algorithm()));
    for _ in 0..100 {
        assert!(call(&limiter, &good, "key").by_server());
        assert_eq!(call(&limiter, &bad, "key"), Told::Open);
    }
    assert_eq!((log.lines(GONE).len(), log.lines(BACK).len()), (1, 0));
    let back = one_line_back(&log, || assert!(call(&limiter, &good, "key").by_server()));
    assert!(back.contains("affected=100"), "{back}");
    say_so(link);
}

/// Runs a test in a process of its own.
fn alone(test: &str) {
    assert_eq!(Node::start(test).recv(), "as it should be");
}

fn say_so(mut link: Link) {
    link.send("as it should be");
}

/// Calls until the log says that the store answers again.
fn one_line_back(log: &Log, call: impl Fn()) -> String {
    until(secs(5), "the store answers again", || {
        call();
        !log.lines(BACK).is_empty()
    });
    let [back] = log.lines(BACK).try_into().unwrap();
    back
}
