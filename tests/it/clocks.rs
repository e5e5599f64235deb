//! Whose time counts, when the clocks of a service's machines are wrong.

use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Check, Limiter, Rate, Rule};
use test_support::{FakeClock, Flavor, Link, Node, Server, unique};

use crate::algorithms::{ms, secs, sliding_log, token_bucket};
use crate::machine;
use crate::real_time::Watch;
use crate::stage::{block_on, told};

/// How long the nodes of B053 call.
const LASTS: Duration = secs(10);

/// How far their wall clocks are off.
const SHIFTS_MS: [i64; 3] = [0, -1_000, 30_000];

/// Nodes whose wall clocks differ share one budget, because the server's time decides.
#[test]
fn b053_nodes_with_different_clocks() {
    if let Some(link) = Link::attach() {
        return b053_node(link);
    }
    let _quiet = machine::quiet();
    let (server, prefix) = (Server::shared(Flavor::Installed), unique("it"));
    let clocks = SHIFTS_MS.map(|shift| {
        let clock = FakeClock::new();
        clock.shift_ms(shift);
        clock
    });
    let mut nodes: Vec<Node> = (0..3)
        .map(|number| {
            Node::builder("clocks::b053_nodes_with_different_clocks")
                .clock(&clocks[number])
                .env("B053_REDIS", &server.url())
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
fn b053_node(mut link: Link) {
    // The same rules on every node.
    let tokens = Rule::new("tokens", token_bucket(150, Rate::per_second(150)));
    let log = Rule::new("log", sliding_log(100, secs(1)));
    let var = |name: &str| std::env::var(name).unwrap();
    let number: u32 = var("B053_NUMBER").parse().unwrap();
    let limiter = Limiter::builder().redis(var("B053_REDIS")).prefix(var("B053_PREFIX"));
    let limiter =
        limiter.on_error(ratelimit_kit::OnError::Closed).deadline(secs(10)).build().unwrap();
    block_on(limiter.ready()).unwrap();
    let client = redis::Client::open(var("B053_REDIS")).unwrap();
    let mut watch = Watch::over(client.get_connection().unwrap());
    // The scripts are there, and so is every connection, before the first call that counts.
    for rule in [&tokens, &log] {
        block_on(limiter.peek(&Check::new(rule, "key"))).unwrap();
    }
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let ahead = |time: Duration| i64::try_from(time.as_millis()).unwrap();
    link.send(ahead(wall) - ahead(watch.now()));
    link.recv();

    let start = Instant::now();
    let mut next = start + ms(5) * number / 3;
    let (mut taken, mut logged) = (0, Vec::new());
    while start.elapsed() < LASTS {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        next += ms(5);
        taken += u64::from(told(limiter.check_blocking(&Check::new(&tokens, "key"))).allowed);
        let before = watch.now();
        let entered = told(limiter.check_blocking(&Check::new(&log, "key"))).allowed;
        if entered {
            let after = watch.now();
            logged.push(format!("{}-{}", before.as_micros(), after.as_micros()));
        }
    }
    link.send(taken);
    link.send(logged.join(" "));
}

/// Steps of the wall clock move nobody's budget in this process.
#[test]
fn b054_wall_clock_steps_on_the_host() {
    if let Some(link) = Link::attach() {
        return b054_node(link);
    }
    for _ in 0..5 {
        let _quiet = machine::quiet();
        let clock = FakeClock::new();
        let mut node =
            Node::builder("clocks::b054_wall_clock_steps_on_the_host").clock(&clock).start();
        assert_eq!(node.recv(), "drained");
        clock.shift_ms(-11_000);
        let mut answers = vec![call_at(&mut node, 500), call_at(&mut node, 1_050)];
        clock.shift_ms(0);
        clock.shift_ms(3_600_000);
        answers.extend([call_at(&mut node, 1_100), call_at(&mut node, 2_050)]);
        if answers.iter().any(|answer| answer.late) {
            continue;
        }
        let [a, b, c, d] = answers.try_into().unwrap();
        for (answer, shift) in [(&a, -11_000), (&b, -11_000), (&c, 3_600_000), (&d, 3_600_000)] {
            let off = answer.wall_moved_ms - shift;
            assert!(off.abs() < 500, "the wall clock was moved, and is {off} ms off");
        }
        assert!(!a.allowed && a.retry_ms <= 500, "{a:?}");
        assert!(b.allowed, "{b:?}");
        assert!(!c.allowed && c.retry_ms <= 950, "{c:?}");
        assert!(d.allowed, "{d:?}");
        return;
    }
    panic!("the machine was too busy to call in time");
}

/// What a call of the node of B054 was told.
#[derive(Debug)]
struct Told {
    allowed: bool,
    retry_ms: u64,
    /// How far the wall clock has moved against the monotonic one since the start.
    wall_moved_ms: i64,
    late: bool,
}

fn call_at(node: &mut Node, t: u64) -> Told {
    node.send(t);
    let answer = node.recv();
    let words: Vec<&str> = answer.split(' ').collect();
    Told {
        allowed: words[0] == "true",
        retry_ms: words[1].parse().unwrap(),
        wall_moved_ms: words[2].parse().unwrap(),
        late: words[3] == "true",
    }
}

/// Drains a bucket, then calls when it is told to, in milliseconds of its monotonic clock.
fn b054_node(mut link: Link) {
    let limiter = Limiter::builder().build().unwrap();
    let rule = crate::algorithms::rule(token_bucket(3, Rate::per_second(1)));
    let check = Check::new(&rule, "key");
    let wall = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let (start, wall_start) = (Instant::now(), wall());
    for _ in 0..3 {
        assert!(told(limiter.check_blocking(&check)).allowed);
    }
    let slow_start = start.elapsed() > ms(15);
    link.send("drained");
    while let Some(t) = link.recv() {
        let at = start + ms(t.parse().unwrap());
        thread::sleep(at.saturating_duration_since(Instant::now()));
        let outcome = told(limiter.check_blocking(&check));
        let late = slow_start || at.elapsed() > ms(30);
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap();
        let moved = millis(wall()) - millis(wall_start) - millis(start.elapsed());
        let retry = outcome.retry_after.unwrap().as_millis();
        link.send(format!("{} {retry} {moved} {late}", outcome.allowed));
    }
}
