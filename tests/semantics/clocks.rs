//! Whose time counts, when the clocks of a service's machines are wrong.

use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Algorithm, Check, Limiter, Rate, Rule};
use test_support::{FakeClock, Link, Node};

use test_stage::algorithms::{ms, secs, token_bucket};
use test_stage::everywhere::{shifted, shifted_node};
use test_stage::machine;
use test_stage::place::Place;
use test_stage::stage::told;

/// Nodes whose wall clocks differ share one budget, because the server's time decides.
#[test]
fn b053_nodes_with_different_clocks() {
    match Link::attach() {
        Some(link) => shifted_node(link),
        None => shifted("clocks::b053_nodes_with_different_clocks", Place::server()),
    }
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
    let rule = test_stage::algorithms::rule(token_bucket(3, Rate::per_second(1)));
    let check = Check::new(&rule, "key");
    let wall = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let (start, wall_start) = (Instant::now(), wall());
    for _ in 0..3 {
        assert!(told(limiter.check_blocking(&check)).is_admitted());
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
        let retry = outcome.retry_after().unwrap().as_millis();
        link.send(format!("{} {retry} {moved} {late}", outcome.is_admitted()));
    }
}

/// Time that the machine has slept counts, and steps of its wall clock do not.
#[test]
fn b126_time_that_the_machine_has_slept_counts() {
    const TWO_HOURS: i64 = 7_200_000;
    type Move = fn(&FakeClock, i64);

    if let Some(link) = Link::attach() {
        return b126_node(link);
    }
    let cases: [(Move, i64, bool); 3] = [
        (FakeClock::sleep_ms, TWO_HOURS, true),
        (FakeClock::shift_ms, TWO_HOURS, false),
        (FakeClock::shift_ms, -TWO_HOURS, false),
    ];
    for (number, (shift, ms, admits)) in cases.into_iter().enumerate() {
        let clock = FakeClock::new();
        let test = "clocks::b126_time_that_the_machine_has_slept_counts";
        let mut node = Node::builder(test).clock(&clock).start();
        let start = Instant::now();
        assert_eq!(told_of(&mut node), (true, 0));
        let (allowed, before) = told_of(&mut node);
        assert!(!allowed && before <= 3_600_000, "{before}");
        shift(&clock, ms);
        let (allowed, after) = told_of(&mut node);
        assert_eq!(allowed, admits, "case {number}");
        if !admits {
            // What has passed on the way, and nothing else.
            let passed = u64::try_from(start.elapsed().as_millis()).unwrap() + 1;
            assert!((before.saturating_sub(passed)..=before).contains(&after), "{before}, {after}");
        }
    }
}

/// Whether a call of the node of B126 was admitted, and how long it is to wait.
fn told_of(node: &mut Node) -> (bool, u64) {
    node.send("call");
    let answer = node.recv();
    let (allowed, retry) = answer.split_once(' ').unwrap();
    (allowed == "true", retry.parse().unwrap())
}

fn b126_node(mut link: Link) {
    let window = Algorithm::FixedWindow { limit: 1, window: secs(3_600) };
    let rule = Rule::new("sleep", window);
    let limiter = Limiter::builder().build().unwrap();
    while link.recv().is_some() {
        let outcome = told(limiter.check_blocking(&Check::new(&rule, "key")));
        link.send(format!(
            "{} {}",
            outcome.is_admitted(),
            outcome.retry_after().unwrap().as_millis()
        ));
    }
}
