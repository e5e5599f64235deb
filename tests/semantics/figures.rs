//! The figures that the documents give: how they come about, and that they hold. `cargo test --test semantics figures -- --nocapture`
//! prints what is measured.

use std::num::NonZeroU32;

use ratelimit_kit::{Check, Clock, Limiter, ManualClock, Rate, Rule};

use crate::direct::Dead;
use test_stage::algorithms::{ms, rule, secs, sliding_log, token_bucket};
use test_stage::stage::{ORIGIN, Stage};

/// The instants, in microseconds, at which calls are admitted.
fn admitted(rule: &Rule, arrivals: impl Iterator<Item = u64>) -> Vec<u64> {
    let stage = Stage::embedded();
    let is_admitted = |us: &u64| {
        stage.clock.set(ORIGIN + std::time::Duration::from_micros(*us));
        stage.hit(rule).is_admitted()
    };
    arrivals.filter(is_admitted).collect()
}

/// The fewest and the most admitted in any second, after the first three and while calls come.
fn in_any_second(admitted: &[u64]) -> (usize, usize) {
    in_any(admitted, 1_000_000)
}

/// The same of any so many microseconds.
fn in_any(admitted: &[u64], span: u64) -> (usize, usize) {
    let until = admitted.last().unwrap() - 1_000_000;
    let steady = admitted.iter().enumerate().filter(|(_, at)| (3_000_000..until).contains(*at));
    let each = steady.map(|(n, at)| {
        let later = &admitted[n..];
        // From this call on, and what is after it: both ends are the worst there are.
        let most = later.iter().take_while(|other| **other < at + span).count();
        let fewest = later.iter().skip(1).take_while(|other| **other <= at + span).count();
        (fewest, most)
    });
    each.fold((usize::MAX, 0), |(least, most), (few, many)| (least.min(few), most.max(many)))
}

fn evenly(a_second: u64) -> impl Iterator<Item = u64> {
    (0..60 * a_second).map(move |n| n * 1_000_000 / a_second)
}

/// Each call comes whenever it likes, as calls of many independent callers do.
fn at_random(a_second: f64, seed: u64) -> impl Iterator<Item = u64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut at = 0.0;
    std::iter::from_fn(move || {
        at -= (1.0 - rng.f64()).ln() / a_second * 1e6;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
        (at < 120e6).then_some(at as u64)
    })
}

/// A limit of 50 a second: evenly, at random, and by somebody who knows how it counts.
#[test]
fn f51_a_sliding_counter_is_nearly_a_log() {
    for (sub_windows, at_random_most) in [(1, 60), (10, 55)] {
        let counter = || {
            let window = secs(1);
            rule(ratelimit_kit::Algorithm::SlidingCounter { limit: 50, window, sub_windows })
        };
        let mut even = (usize::MAX, 0);
        for a_second in [60, 73, 100, 137, 200, 333, 1_000] {
            let (least, most) = in_any_second(&admitted(&counter(), evenly(a_second)));
            even = (even.0.min(least), even.1.max(most));
        }
        let mut random = 0;
        for (seed, a_second) in (0..10).flat_map(|n| [60.0, 100.0, 200.0].map(|a| (n, a))) {
            random = random.max(in_any_second(&admitted(&counter(), at_random(a_second, seed))).1);
        }
        // All at the end of a part of the window, and then whatever is let in.
        let burst = (0..500).map(|n| 3_990_000 + n * 20).chain((4_000..6_000).map(|n| n * 1_000));
        let burst = admitted(&counter(), burst);
        let worst = in_any_second(&burst).1;
        println!("sliding counter, 50 a second in {sub_windows}: {even:?}, {random}, {worst}");
        assert!(even.0 >= 49 && even.1 <= 51, "{even:?}");
        assert!(random <= at_random_most, "{random}");
        assert!(worst <= 100, "{worst}");
        // What holds for anybody: the limit in a window less one of its parts.
        let span = 1_000_000 - 1_000_000 / u64::from(sub_windows);
        let random = admitted(&counter(), at_random(200.0, 99));
        assert!(span == 0 || in_any(&burst, span).1 <= 50 && in_any(&random, span).1 <= 50);
    }
    let log = in_any_second(&admitted(&rule(sliding_log(50, secs(1))), at_random(200.0, 1)));
    assert_eq!(log.1, 50, "a log is exact");
}

#[test]
fn f51_the_first_second_of_a_bucket() {
    let bucket = rule(token_bucket(50, Rate::per_second(20)));
    let admitted = admitted(&bucket, evenly(1_000));
    let first = admitted.iter().filter(|at| **at < 1_000_000).count();
    let second = admitted.iter().filter(|at| (1_000_000..2_000_000).contains(*at)).count();
    println!("a bucket of 50 with 20 a second: {first} in the first second, then {second}");
    // One more if the last microsecond counts.
    assert!((69..=70).contains(&first), "{first}");
    assert_eq!(second, 20);
}

/// In an outage each of two instances has half of the limit, whatever its part of the traffic.
#[test]
fn f51_a_share_is_even_and_traffic_is_not() {
    let rule = rule(sliding_log(100, secs(60)));
    let instances = [70, 30].map(|calls| {
        let clock = ManualClock::new();
        let limiter = Limiter::builder().store(Dead).replicas(NonZeroU32::new(2).unwrap());
        let limiter = limiter.clock(Clock::Manual(clock.clone())).build().unwrap();
        (0..calls)
            .filter(|_| {
                clock.advance(ms(10));
                limiter.check_blocking(&Check::new(&rule, "key")).is_ok()
            })
            .count()
    });
    println!("a limit of 100 for two instances with 70 and 30 calls: {instances:?} admitted");
    assert_eq!(instances, [50, 30]);
}
