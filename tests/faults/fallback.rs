//! The store that decides in place of one that is gone.

use std::thread;
use std::time::Instant;

use ratelimit_kit::OnError;
use test_support::{Flavor, Link, Node, Server};

use crate::support::calls::{Told, call, on, window_of};
use crate::support::memory::kib;
use crate::support::wait::{ms, secs, until};
use test_stage::machine;

const MAX_KEYS: u64 = 10_000;
const KEYS_PER_MS: u64 = 33;

/// How long there is no Redis, and how long it is back.
const SECONDS: (u64, u64) = (8, 4);

/// New keys without end while Redis is down: the store that stands in for it holds as many as it may,
/// the others share a budget, and memory stays where it was. A quarter of the time that the spec
/// takes, at its rate: the store is full within half a second, and what it holds is as old as a
/// window at the most. In a process of its own, so that its memory is counted alone.
#[test]
fn b101_the_fallback_store_is_bounded_too() {
    if let Some(link) = Link::attach() {
        return b101_node(link);
    }
    let _loud = machine::loud();
    let mut node = Node::start("fallback::b101_the_fallback_store_is_bounded_too");
    println!("{}", node.recv());
}

fn b101_node(mut link: Link) {
    let mut server = Server::start(Flavor::Installed);
    server.kill();
    let limit = 5;
    let rule = window_of(limit, secs(1));
    let max_keys = usize::try_from(MAX_KEYS).unwrap();
    let limiter = on(server.url()).on_error(OnError::Local).max_keys(max_keys).build().unwrap();
    // What is made once is not what grows.
    assert_eq!(call(&limiter, &rule, "first"), Told::Local(true));
    let before = kib("VmRSS");

    let (down, back) = SECONDS;
    let start = Instant::now();
    let (mut key, mut admitted) = (0, 0);
    while key < down * 1_000 * KEYS_PER_MS {
        // So many milliseconds into the outage as there were handfuls of keys.
        let due = start + ms(key / KEYS_PER_MS + 1);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        for _ in 0..KEYS_PER_MS {
            match call(&limiter, &rule, &key.to_string()) {
                Told::Local(admits) => admitted += u64::from(admits),
                other => panic!("{other:?}"),
            }
            key += 1;
        }
    }
    let took = start.elapsed();
    let during = kib("VmHWM") - before;
    // A key that has a place in the store is admitted at its first call, and leaves it when its
    // window is over. All others share what one key has.
    let windows = took.as_secs() + 2;
    let most = windows * (MAX_KEYS + limit);
    assert!((MAX_KEYS..=most).contains(&admitted), "{admitted} of {key} admitted, not {most}");
    assert!(most < key, "the keys came too slowly to fill the store: {took:?}");
    assert!(during <= 32 * 1_024, "{during} KiB more during the outage");

    server.start_again();
    until(secs(3), "a decision", || call(&limiter, &rule, "first").by_server());
    let start = Instant::now();
    while start.elapsed() < secs(back) {
        assert!(call(&limiter, &rule, "first").by_server());
        thread::sleep(ms(20));
    }
    let after = kib("VmRSS").saturating_sub(before);
    assert!(after <= 5 * 1_024, "{after} KiB more in the end");
    link.send(format!(
        "{key} keys in {took:?}, {admitted} admitted, {during} KiB, then {after} KiB"
    ));
}
