//! Nodes of one service whose clocks differ.

use std::env;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ratelimit_kit::{Check, Limiter, OnError, Rate, Rule};
use test_support::{FakeClock, Link, Node, unique};

use crate::algorithms::{ms, secs, sliding_log, token_bucket};
use crate::machine;
use crate::place::Place;
use crate::real_time::Watch;
use crate::stage::{block_on, told};

/// How long the nodes of B053 call.
const LASTS: Duration = secs(10);

/// How far their wall clocks are off.
const SHIFTS_MS: [i64; 3] = [0, -1_000, 30_000];

/// Nodes whose wall clocks differ share one budget, because the server's time decides. They run
/// this `test` too, and there it is [`shifted_node`].
pub fn shifted(test: &str, place: Place<'_>) {
    let _quiet = machine::quiet();
    let prefix = unique("it");
    let clocks = SHIFTS_MS.map(|shift| {
        let clock = FakeClock::new();
        clock.shift_ms(shift);
        clock
    });
    let mut nodes: Vec<Node> = (0..3)
        .map(|number| {
            Node::builder(test)
                .clock(&clocks[number])
                .env("B053_REDIS", &place.url())
                .env("B053_WATCH", &place.servers()[0].url())
                .env("B053_PREFIX", &prefix)
                .env("B053_NUMBER", &number.to_string())
                .start()
        })
        .collect();
    for (node, shift) in nodes.iter_mut().zip(SHIFTS_MS) {
        let off = node.recv().parse::<i64>().unwrap() - shift;
        assert!(off.abs() < 500, "a node's wall clock is {off} ms from where it should be");
    }
    for node in &mut nodes {
        node.send("go");
    }

    let mut tokens = 0;
    let mut logged: Vec<(u64, u64)> = Vec::new();
    for node in &mut nodes {
        tokens += node.recv().parse::<u64>().unwrap();
        let calls = node.recv();
        logged.extend(calls.split_whitespace().map(|call| {
            let (from, to) = call.split_once('-').unwrap();
            (from.parse::<u64>().unwrap(), to.parse::<u64>().unwrap())
        }));
    }
    assert!((1_600..=1_660).contains(&tokens), "{tokens} tokens");
    assert!((900..=1_100).contains(&logged.len()), "{} entries", logged.len());
    // Each admitted call is known to have been decided between two looks at the server's clock.
    // Those that lie in one second as a whole must not be more than the limit.
    for (start, _) in &logged {
        let within = |call: &&(u64, u64)| call.0 >= *start && call.1 < *start + 1_000_000;
        let calls = logged.iter().filter(within).count();
        assert!(calls <= 100, "{calls} calls in the second from {start}");
    }
}

/// Calls every 5 ms, a third of them offset against those of the other nodes. Sends how many
/// tokens it got, and between which times of the server each entry of the log was made.
pub fn shifted_node(mut link: Link) {
    // The same rules on every node.
    let tokens = Rule::new("tokens", token_bucket(150, Rate::per_second(150)));
    let log = Rule::new("log", sliding_log(100, secs(1)));
    let var = |name: &str| env::var(name).unwrap();
    let number: u32 = var("B053_NUMBER").parse().unwrap();
    let limiter = Limiter::builder().redis(var("B053_REDIS")).prefix(var("B053_PREFIX"));
    let limiter = limiter.on_error(OnError::Closed).deadline(secs(10)).build().unwrap();
    block_on(limiter.ready()).unwrap();
    let client = redis::Client::open(var("B053_WATCH")).unwrap();
    let mut watch = Watch::over(client.get_connection().unwrap());
    // The scripts are there, and so is every connection, before the first call that counts.
    for rule in [&tokens, &log] {
        block_on(limiter.peek(&Check::new(rule, "key"))).unwrap();
    }
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let ahead = |time: Duration| i64::try_from(time.as_millis()).unwrap();
    link.send(ahead(wall) - ahead(watch.now()));
    link.recv();

    let start = Instant::now();
    let mut next = start + ms(5) * number / 3;
    let (mut taken, mut logged) = (0, Vec::new());
    while start.elapsed() < LASTS {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next += ms(5);
        taken += u64::from(told(limiter.check_blocking(&Check::new(&tokens, "key"))).is_admitted());
        let before = watch.now();
        let entered = told(limiter.check_blocking(&Check::new(&log, "key"))).is_admitted();
        if entered {
            let after = watch.now();
            logged.push(format!("{}-{}", before.as_micros(), after.as_micros()));
        }
    }
    link.send(taken);
    link.send(logged.join(" "));
}
