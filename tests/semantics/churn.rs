//! What the embedded store holds when ever new keys come.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use ratelimit_kit::store::{Answers, BoxFuture, Embedded, Store};
use ratelimit_kit::{
    Algorithm, Check, Clock, Limiter, ManualClock, Rate, RateLimitError, Rule, StoreError,
};
use test_support::{Link, Node};

use test_stage::algorithms::{Kind, ms, secs, token_bucket};
use test_stage::machine;
use test_stage::stage::told;

const MAX_KEYS: usize = 100_000;
/// What keys of one rule may have of them.
const ONE_RULE: usize = MAX_KEYS / 4 * 3;
const KEYS: u64 = 2_000_000;
const KEYS_PER_MS: u64 = 100;
/// What a node says after each tenth of its keys, since a busy machine takes long for all of them.
const ON_ITS_WAY: &str = "on its way";

/// Two million keys in 20 seconds stay within the cap, of which they leave a quarter to other rules, and
/// within 64 MiB, and leave by themselves.
/// Each algorithm has a process of its own, so that its memory is counted alone.
#[test]
fn b099_the_embedded_store_under_key_churn() {
    if let Some(link) = Link::attach() {
        return b099_node(link);
    }
    let _loud = machine::loud();
    let kinds: Vec<usize> = (0..Kind::ALL.len()).collect();
    for batch in kinds.chunks(3) {
        let start = |number: &usize| {
            Node::builder("churn::b099_the_embedded_store_under_key_churn")
                .env("B099_ALGORITHM", &number.to_string())
                .start()
        };
        let nodes: Vec<Node> = batch.iter().map(start).collect();
        for (number, mut node) in batch.iter().zip(nodes) {
            let kind = Kind::ALL[*number];
            let mut numbers = node.recv();
            while numbers == ON_ITS_WAY {
                numbers = node.recv();
            }
            let numbers: Vec<usize> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
            println!("{kind:?}: {numbers:?}");
            let [took_ms, most, kib, left] = numbers.try_into().unwrap();
            // A machine that is busy makes keys more slowly. They must fill the store all the same.
            assert!(took_ms >= 20_000, "{kind:?}: the keys took {took_ms} ms only");
            assert_eq!(most, ONE_RULE, "{kind:?}: the most entries");
            assert!(kib <= 64 * 1_024, "{kind:?}: {kib} KiB more");
            assert!(left <= 1_000, "{kind:?}: {left} entries left");
        }
    }
}

/// Rules without end, each with a name of its own and one call, do not fill the memory.
#[test]
fn b152_names_that_come_and_go() {
    if let Some(mut link) = Link::attach() {
        const NAMES: u64 = 1_200_000;
        let clock = ManualClock::new();
        let store = Embedded::new().with_max_keys(1_000).with_clock(Clock::Manual(clock));
        let store = Arc::new(store);
        let limiter = Limiter::builder().store(Watched(Arc::clone(&store))).build().unwrap();
        for name in 0..NAMES {
            let window = Algorithm::FixedWindow { limit: 5, window: secs(3_600) };
            let rule = Rule::named(format!("rule {name}"), window);
            match limiter.check_blocking(&Check::new(&rule, "key")) {
                Ok(_) | Err(RateLimitError::Limited(_)) => {}
                Err(other) => panic!("{other}"),
            }
            if (name + 1) % 200_000 == 0 {
                link.send(format!("{} {}", memory_kib("VmRSS"), store.len()));
            }
        }
        return;
    }
    let mut node = Node::start("churn::b152_names_that_come_and_go");
    let quarters: Vec<(u64, u64)> = (0..6)
        .map(|_| {
            let line = node.recv();
            let (kib, keys) = line.split_once(' ').unwrap();
            (kib.parse().unwrap(), keys.parse().unwrap())
        })
        .collect();
    println!("{quarters:?}");
    let ((first, _), (last, keys)) = (quarters[0], quarters[5]);
    assert!(last <= first + 8 * 1_024, "{quarters:?}");
    assert_eq!(keys, 1_000);
}

/// An embedded store that can be asked how full it is while a limiter uses it.
#[derive(Debug)]
pub(crate) struct Watched(pub(crate) Arc<Embedded>);

impl Store for Watched {
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        self.0.decide_now(checks)
    }

    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        self.0.decide(checks)
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.reset(check)
    }
}

/// Sends how long the keys took, the most entries there were, by how many KiB the process grew at
/// its largest, and how many entries were left in the end. There is no runtime in this process.
fn b099_node(mut link: Link) {
    let number: usize = std::env::var("B099_ALGORITHM").unwrap().parse().unwrap();
    let algorithm = match Kind::ALL[number] {
        Kind::TokenBucket => token_bucket(5, Rate::per_second(5)),
        kind => kind.recovering(5, secs(1)),
    };
    let rule = Rule::new("churn", algorithm);
    let store = Arc::new(Embedded::new().with_max_keys(MAX_KEYS));
    let limiter = Limiter::builder().store(Watched(Arc::clone(&store))).build().unwrap();
    let before = memory_kib("VmRSS");

    let start = Instant::now();
    let (mut key, mut most) = (0_u64, 0);
    while key < KEYS {
        // 100 of them, then so many milliseconds into the 20 seconds as there were hundreds.
        let due = start + ms(key / KEYS_PER_MS + 1);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        for _ in 0..KEYS_PER_MS {
            // Admitted, or refused by the overflow budget of a store that is full.
            match limiter.check_blocking(&Check::new(&rule, key)) {
                Ok(_) | Err(RateLimitError::Limited(_)) => key += 1,
                Err(other) => panic!("{other}"),
            }
        }
        most = most.max(store.len());
        if key.is_multiple_of(KEYS / 10) {
            link.send(ON_ITS_WAY);
        }
    }
    let took = start.elapsed().as_millis();
    let light = Instant::now();
    while light.elapsed() < secs(10) {
        told(limiter.check_blocking(&Check::new(&rule, "the only one")));
        most = most.max(store.len());
        thread::sleep(ms(100));
    }
    let grown = memory_kib("VmHWM") - before;
    link.send(format!("{took} {most} {grown} {}", store.len()));
}

/// A field of what the kernel says about this process.
fn memory_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
