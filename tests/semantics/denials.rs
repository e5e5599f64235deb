//! What a refusal costs: nothing.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use futures_util::future::join_all;
use ratelimit_kit::{Algorithm, Check, Outcome};

use test_stage::algorithms::{Kind, ms, rule, secs};
use test_stage::real_time::Watch;
use test_stage::stage::{ORIGIN, Stage, block_on, on_redis, told};

/// A call after the first ones, every 100 ms: decided between two times, and what it was told.
type Call = (Duration, Duration, Outcome);

/// One call every 100 ms for a minute.
const CALLS: u32 = 600;

fn ten_in_ten_seconds(kind: Kind) -> Algorithm {
    kind.recovering(10, secs(10))
}

/// How many calls are admitted in all, and when the first after the burst may be.
fn expected(kind: Kind) -> (RangeInclusive<usize>, RangeInclusive<Duration>) {
    match kind {
        Kind::TokenBucket | Kind::LeakyBucket => (69..=71, ms(1_000)..=ms(1_100)),
        Kind::FixedWindow | Kind::SlidingLog => (60..=70, ms(9_900)..=ms(10_100)),
        Kind::SlidingCounter => (55..=65, ms(0)..=ms(11_100)),
    }
}

/// The burst was admitted; here are the calls that came after it. Waits are in whole milliseconds,
/// so the instant that one ends may look moved by the `grain` of the clock.
fn assert_block_is_not_extended(kind: Kind, calls: &[Call], grain: Duration, what: &str) {
    let (total, first) = expected(kind);
    let all = 10 + calls.iter().filter(|(_, _, outcome)| outcome.is_admitted()).count();
    assert!(total.contains(&all), "{kind:?} on {what}: {all} admitted");
    let dues = (1..).map(|call| ms(100) * call);
    let (due, (_, made, _)) = dues
        .zip(calls)
        .find(|(_, (_, _, outcome))| outcome.is_admitted())
        .expect("some are admitted");
    // A busy machine makes a call later than it is due. That is no reason to admit it, or not to.
    assert!(made >= first.start(), "{kind:?} on {what}: the first at {made:?}");
    assert!(due <= *first.end(), "{kind:?} on {what}: the first that was due at {due:?}");
    // A refused call does not move the instant for which the next is promised.
    for pair in calls.windows(2) {
        let [(from, to, a), (then_from, then_to, b)] = pair else { unreachable!() };
        if a.is_admitted() || b.is_admitted() {
            continue;
        }
        let (wait, then_wait) = (a.retry_after().unwrap(), b.retry_after().unwrap());
        let sooner = (*from + wait).saturating_sub(*then_to + then_wait);
        let later = (*then_from + then_wait).saturating_sub(*to + wait);
        let moved = sooner.max(later);
        assert!(moved <= grain, "{kind:?} on {what}, from {from:?} on: moved by {moved:?}");
    }
}

/// Who goes on calling while he is blocked is let in no later than who waits.
#[test]
fn b097_denied_calls_do_not_extend_the_block() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(ten_in_ten_seconds(kind));
            stage.at(0);
            assert_eq!(stage.hits(&rule, 10), 10);
            let calls: Vec<Call> = (1..=CALLS)
                .map(|call| {
                    let t = ms(100) * call;
                    stage.clock.set(ORIGIN + t);
                    (t, t, stage.hit(&rule))
                })
                .collect();
            // On a clock that stands still between calls, waits fall by 100 ms each, exactly.
            assert_block_is_not_extended(kind, &calls, Duration::ZERO, stage.name);
        }
    }
}

/// The same in real time, with all algorithms at once.
#[test]
fn b097_denied_calls_do_not_extend_the_block_in_real_time() {
    let limiter = on_redis().build().unwrap();
    block_on(limiter.ready()).unwrap();
    thread::scope(|scope| {
        for kind in Kind::ALL {
            let limiter = &limiter;
            scope.spawn(move || {
                let rule = rule(ten_in_ten_seconds(kind));
                let check = Check::new(&rule, "key");
                let mut watch = Watch::shared();
                if kind == Kind::SlidingCounter {
                    watch.wait_for_multiple_of(secs(10));
                }
                let burst = block_on(join_all((0..10).map(|_| limiter.check(&check))));
                assert!(burst.into_iter().all(|call| told(call).is_admitted()));
                // What was used before this instant is back when its recovery is over.
                let start = watch.now();
                let calls: Vec<Call> = (1..=CALLS)
                    .map(|call| {
                        watch.wait_until(start + ms(100) * call);
                        let before = watch.now();
                        let outcome = told(limiter.check_blocking(&check));
                        let after = watch.now();
                        (before - start, after - start, outcome)
                    })
                    .collect();
                assert_block_is_not_extended(kind, &calls, ms(1), "Redis in real time");
            });
        }
    });
}
