//! Nodes are processes of their own, and their wall clock can be moved.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use test_support::{FakeClock, Link, Node};

fn wall_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Answers `wall` and `monotonic` with milliseconds, the second ones since its start.
fn tell_the_time(mut link: Link) {
    let start = Instant::now();
    while let Some(question) = link.recv() {
        match question.as_str() {
            "wall" => link.send(wall_ms()),
            "monotonic" => link.send(start.elapsed().as_millis()),
            "sleep" => {
                let before = Instant::now();
                std::thread::sleep(Duration::from_millis(100));
                link.send(before.elapsed().as_millis());
            }
            other => panic!("what is {other}?"),
        }
    }
}

#[test]
fn a_moved_wall_clock_moves_nothing_else() {
    if let Some(link) = Link::attach() {
        return tell_the_time(link);
    }
    let clock = FakeClock::new();
    let mut node = Node::builder("a_moved_wall_clock_moves_nothing_else").clock(&clock).start();
    let mut ask = |question: &str| {
        node.send(question);
        node.recv().parse::<i64>().unwrap()
    };
    for shift in [0, -11_000, 3_600_000, -500, 30_000] {
        clock.shift_ms(shift);
        let off = ask("wall") - wall_ms() - shift;
        assert!(off.abs() < 500, "shifted by {shift} ms, it is {off} ms off");
        assert!(ask("monotonic") < 60_000);
        assert!((100..1_000).contains(&ask("sleep")));
    }
}

#[test]
fn nodes_share_no_memory_and_end() {
    if let Some(mut link) = Link::attach() {
        link.send(std::process::id());
        link.send(std::env::var("COLOUR").unwrap());
        return;
    }
    let mut node = Node::builder("nodes_share_no_memory_and_end").env("COLOUR", "blue").start();
    assert_eq!(node.recv(), node.pid().to_string());
    assert_ne!(node.pid(), std::process::id());
    assert_eq!(node.recv(), "blue");
}
