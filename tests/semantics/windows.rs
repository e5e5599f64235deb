//! What the windows give, to the call.

use std::sync::Barrier;
use std::thread;

use futures_util::future::join_all;
use ratelimit_kit::{Check, Rule};
use test_support::unique;

use test_stage::algorithms::{fixed_window, ms, rule, secs, sliding_counter, sliding_log};
use test_stage::machine;
use test_stage::real_time::{Watch, on_schedule};
use test_stage::stage::{Stage, block_on, on_redis, told};

/// The counter weighs the window before by the part of it that is still in sight.
#[test]
fn b026_sliding_counter_arithmetic() {
    for stage in Stage::both() {
        let rule = rule(sliding_counter(100, secs(10)));
        stage.at(5_000);
        assert_eq!(stage.hits(&rule, 50), 50);
        stage.at(10_900);
        assert_eq!(stage.hits(&rule, 10), 10);

        stage.at(11_000);
        assert_eq!(stage.peek(&rule).remaining(), 45, "on {}", stage.name);
        assert_eq!(stage.hits(&rule, 45), 45);
        let refused = stage.hit(&rule);
        assert!(!refused.is_admitted());
        // Weighted, the 50 are 45 now, and rounded down 44 a moment later.
        assert_eq!(refused.retry_after(), Some(ms(1)), "on {}", stage.name);
        stage.at(11_001);
        assert_eq!(stage.hits(&rule, 2), 1, "on {}", stage.name);
    }
}

/// The same in real time: the wait that a refusal names suffices.
#[test]
fn b026_sliding_counter_arithmetic_in_real_time() {
    on_schedule(|redis| {
        let rule = rule(sliding_counter(100, secs(10)));
        redis.begin_at_multiple_of(secs(10));
        redis.at(9_900);
        assert_eq!(redis.admits(&rule, 50)?, 50);
        redis.at(10_900);
        assert_eq!(redis.admits(&rule, 10)?, 10);

        redis.at(11_000);
        let remaining = redis.peek(&rule)?.remaining();
        assert!((44..=46).contains(&remaining), "{remaining}");
        let (admitted, refused): (Vec<_>, Vec<_>) =
            redis.hits(&rule, 48)?.into_iter().partition(ratelimit_kit::Outcome::is_admitted);
        assert!((44..=46).contains(&admitted.len()), "{} admitted", admitted.len());
        let wait = refused.last().unwrap().retry_after().unwrap();
        assert!((ms(1)..=ms(200)).contains(&wait), "{wait:?}");
        let back = redis.watch.now() + wait;
        redis.watch.wait_until(back);
        assert!(told(redis.limiter.check_blocking(&Check::new(&rule, "key"))).is_admitted());
        Ok(())
    });
}

/// Calls that come within one tick of the clock are all counted.
#[test]
fn b029_many_calls_in_one_clock_tick() {
    for stage in Stage::both() {
        let ones = rule(sliding_log(100, secs(60)));
        assert_eq!(stage.hits(&ones, 150), 100, "on {}", stage.name);

        let tens = rule(sliding_log(100, secs(60)));
        let admitted = (0..10).filter(|_| stage.cost(&tens, 10).is_admitted()).count();
        assert_eq!(admitted, 10, "on {}", stage.name);
        assert!(!stage.cost(&tens, 1).is_admitted(), "on {}", stage.name);
    }
}

/// The same for calls from four nodes within a moment of real time.
#[test]
fn b029_many_calls_from_four_nodes_at_once() {
    let _loud = machine::loud();
    let prefix = unique("it");
    let nodes = [(); 4].map(|()| on_redis().prefix(&prefix).build().unwrap());
    for node in &nodes {
        block_on(node.ready()).unwrap();
    }
    let mut watch = Watch::shared();
    for _ in 0..5 {
        let rule = rule(sliding_log(100, secs(60)));
        let barrier = Barrier::new(nodes.len() + 1);
        let (took, admitted) = thread::scope(|scope| {
            let calls = nodes.each_ref().map(|node| {
                scope.spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    barrier.wait();
                    runtime.block_on(async {
                        let check = Check::new(&rule, "key");
                        let calls = (0..250).map(|_| node.check(&check));
                        let all = join_all(calls).await;
                        all.into_iter().filter(|result| told(result.clone()).is_admitted()).count()
                    })
                })
            });
            barrier.wait();
            let start = watch.now();
            let admitted: usize = calls.into_iter().map(|node| node.join().unwrap()).sum();
            (watch.now() - start, admitted)
        });
        assert_eq!(admitted, 100);
        if took <= ms(200) {
            return;
        }
    }
    panic!("the machine was too busy for 1,000 calls within 200 ms");
}

/// Around a border, each kind of window gives what its definition says and no more.
#[test]
fn b030_what_each_window_guarantees_across_a_border() {
    for stage in Stage::both() {
        let bursts = |rule: &Rule| {
            [990, 1_000, 1_990].map(|start| {
                let burst = (start..start + 10).filter(|t| {
                    stage.at(*t);
                    stage.hit(rule).is_admitted()
                });
                burst.count()
            })
        };
        let window = rule(fixed_window(10, secs(1)));
        stage.at(0);
        assert!(stage.hit(&window).is_admitted());
        assert_eq!(bursts(&window), [9, 10, 0], "on {}", stage.name);

        let log = rule(sliding_log(10, secs(1)));
        assert_eq!(bursts(&log), [10, 0, 10], "on {}", stage.name);

        let counter = rule(sliding_counter(10, secs(1)));
        let [first, j, k] = bursts(&counter);
        assert_eq!(first, 10, "on {}", stage.name);
        assert!(j <= 1 && (9..=10).contains(&(j + k)), "on {}: {j} and {k}", stage.name);
    }
}
