//! Servers that hold a connection open and say nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratelimit_kit::OnError;
use test_support::{Flavor, Link, Node, Proxy, Reply, Server, Stub};

use crate::support::calls::{
    Told, block_on, by_default, call, call_async, connected, timed, window,
};
use crate::support::measure::{Late, at_most, measured, relay, relayed};
use crate::support::memory::kib;
use crate::support::traffic::Traffic;
use crate::support::wait::{ms, secs, until};

/// One that accepts and never answers costs the first calls their deadline and the others nothing,
/// no memory to speak of, and it is used as soon as it answers. With a deadline of 100 ms and with
/// the default one, in a process of its own each, so that its memory is counted alone.
#[test]
fn b065_redis_accepts_but_never_answers() {
    if let Some(link) = Link::attach() {
        return b065_node(link);
    }
    for deadline in [100, 50] {
        measured(|| {
            let mut node = Node::builder("silence::b065_redis_accepts_but_never_answers")
                .env("B065_DEADLINE", &deadline.to_string())
                .start();
            let numbers = node.recv();
            println!("deadline {deadline} ms: {numbers}");
            relayed(&numbers)
        });
    }
}

fn b065_node(mut link: Link) {
    link.send(relay(never_answers()));
}

fn never_answers() -> Result<String, Late> {
    let deadline: u64 = std::env::var("B065_DEADLINE").unwrap().parse().unwrap();
    let stub = Stub::start(|_| Reply::Silence);
    let builder = by_default(stub.url());
    let builder = if deadline == 50 { builder } else { builder.deadline(ms(deadline)) };
    let limiter = builder.build().unwrap();
    let longest = ms(deadline + 50);
    let rule = Arc::new(window(5));
    let before = kib("VmRSS");

    let in_sequence = |_| {
        let (took, told) = timed(|| call(&limiter, &rule, "key"));
        assert!(matches!(told, Told::Failed(_)), "{told:?}");
        at_most(longest, "one after the other", took)?;
        Ok(took)
    };
    let mut took = (0..200).map(in_sequence).collect::<Result<Vec<Duration>, Late>>()?;
    let later = &mut took[19..];
    later.sort_unstable();
    let p99 = later[later.len() * 99 / 100];
    at_most(ms(10), "of 99 in 100", p99)?;

    let took = block_on(async {
        let calls = (0..1_000).map(|_| {
            let (limiter, rule) = (limiter.clone(), Arc::clone(&rule));
            tokio::spawn(async move {
                let start = Instant::now();
                let told = call_async(&limiter, &rule, "key").await;
                assert!(matches!(told, Told::Failed(_)), "{told:?}");
                start.elapsed()
            })
        });
        let mut longest = Duration::ZERO;
        for call in calls.collect::<Vec<_>>() {
            longest = longest.max(call.await.unwrap());
        }
        longest
    });
    at_most(longest, "all at once", took)?;
    let grown = kib("VmHWM") - before;
    assert!(grown < 10 * 1_024, "{grown} KiB more");

    stub.answer(|words| match words[0].as_slice() {
        b"EVALSHA" => first_of_a_window(),
        _ => Reply::Usual,
    });
    let back = until(secs(10), "an answer", || call(&limiter, &rule, "key") == Told::Admitted(4));
    at_most(secs(2), "until it is used", back)?;
    Ok(format!("p99 {p99:?}, concurrent {took:?}, {grown} KiB, back after {back:?}"))
}

/// What the script of a fixed window says to the first call: admitted, the time, and the state, which
/// is when it was charged, the age of the window then, and the count.
fn first_of_a_window() -> Reply {
    let now = 1_000_000_u64;
    let mut record = vec![1];
    for number in [now, now, 0, 1] {
        record.extend(number.to_le_bytes());
    }
    Reply::bulk(record)
}

/// A connection in which everything is lost is given up, and one that works takes its place, within
/// seconds and not when the kernel notices.
#[test]
fn a_half_open_connection_is_replaced() {
    measured(half_open);
}

fn half_open() -> Result<(), Late> {
    let server = Server::start(Flavor::Installed);
    let proxy = Proxy::to(server.port());
    let limiter = connected(by_default(proxy.url()).on_error(OnError::Open));
    let traffic = Traffic::every(ms(10), &limiter, window(1_000_000));
    let start = Instant::now();
    until(secs(5), "a decision", || traffic.was_told(start, Told::by_server));
    assert_eq!(proxy.connections().len(), 1);

    proxy.lose();
    let lost = Instant::now();
    until(secs(2), "another connection", || proxy.connections().len() > 1);
    // Nobody waits any more for what does not come.
    let start = Instant::now();
    std::thread::sleep(secs(1));
    proxy.pass();
    let back = Instant::now();
    until(secs(3), "a decision", || traffic.was_told(back, Told::by_server));

    let seen = traffic.stop();
    let longest = seen.iter().map(|call| call.took).max().unwrap();
    at_most(ms(100), "the longest call", longest)?;
    let waited = seen.iter().filter(|call| call.at > lost && call.took >= ms(45)).count();
    // Those of the 100 ms until it is given up, and of the 50 ms that each of them waits.
    at_most(25, "calls that waited", waited)?;
    let meanwhile = seen.iter().filter(|call| start < call.at && call.at < back);
    let slow = meanwhile.filter(|call| call.took > ms(10)).count();
    at_most(2, "slow calls", slow)
}

/// A process that is stopped is silent like a black hole. When it goes on it decides again.
#[test]
fn a_stopped_server_decides_again_when_it_goes_on() {
    measured(stopped);
}

fn stopped() -> Result<(), Late> {
    let server = Server::start(Flavor::Installed);
    let limiter = connected(by_default(server.url()));
    let rule = window(1_000_000);
    until(secs(5), "a decision", || call(&limiter, &rule, "key").by_server());
    for _ in 0..2 {
        server.freeze();
        let start = Instant::now();
        let mut calls = 0;
        // Longer than an attempt to connect may take.
        while start.elapsed() < ms(1_200) {
            let (took, told) = timed(|| call(&limiter, &rule, "key"));
            at_most(ms(100), "a call", took)?;
            assert!(!told.by_server(), "{told:?}");
            calls += 1;
            std::thread::sleep(ms(2));
        }
        assert!(calls > 100, "calls are not held up: {calls}");
        server.thaw();
        until(secs(3), "a decision", || call(&limiter, &rule, "key").by_server());
    }
    // What was sent before it was given up may have been counted, and nothing else.
    let mut told = call(&limiter, &rule, "key");
    until(secs(5), "a decision", || {
        told = call(&limiter, &rule, "key");
        told.by_server()
    });
    let Told::Admitted(remaining) = told else { panic!("{told:?}") };
    at_most(30, "calls that were counted", 1_000_000 - remaining)
}
