//! What the buckets give: fractions of a permit count, and no rate is too high.

use std::thread;
use std::time::Duration;

use futures_util::future::join_all;
use ratelimit_kit::{Check, Rate};
use test_support::{Flavor, Server, unique};

use test_stage::algorithms::{leaky_bucket, ms, rule, secs, token_bucket};
use test_stage::machine;
use test_stage::real_time::Watch;
use test_stage::stage::{ORIGIN, Stage, block_on, on_redis, told};

/// How often somebody asks, for how long, and the bucket that he asks.
struct Polling {
    refill: Rate,
    every: Duration,
    lasts: Duration,
    admitted: u64,
}

const POLLINGS: [Polling; 3] = [
    Polling { refill: Rate::per_second(5), every: ms(10), lasts: secs(10), admitted: 50 },
    Polling { refill: Rate::per_second(5), every: ms(1), lasts: secs(10), admitted: 50 },
    Polling { refill: Rate::new(3, secs(7)), every: ms(1), lasts: secs(70), admitted: 30 },
];

/// A caller that asks all the time gets as much as one that waits.
#[test]
fn b033_frequent_polling_does_not_lose_fractions_of_a_token() {
    for stage in Stage::both() {
        // On Redis the longest of them, of 70,000 calls, is made in real time only.
        let pollings = if stage.name == "Redis" { &POLLINGS[..2] } else { &POLLINGS };
        for &Polling { refill, every, lasts, admitted } in pollings {
            let rule = rule(token_bucket(10, refill));
            stage.at(0);
            assert_eq!(stage.hits(&rule, 10), 10);
            let polls = lasts.as_millis() / every.as_millis();
            let mut got = 0;
            for poll in 1..=u32::try_from(polls).unwrap() {
                stage.clock.set(ORIGIN + every * poll);
                got += u64::from(stage.hit(&rule).is_admitted());
            }
            assert_eq!(got, admitted, "on {}: {refill:?} asked every {every:?}", stage.name);
        }
    }
}

/// The same in real time: all pollings go on at once.
#[test]
fn b033_frequent_polling_in_real_time() {
    let limiter = on_redis().build().unwrap();
    block_on(limiter.ready()).unwrap();
    thread::scope(|scope| {
        for Polling { refill, every, lasts, admitted } in POLLINGS {
            let limiter = &limiter;
            scope.spawn(move || {
                let rule = rule(token_bucket(10, refill));
                let check = Check::new(&rule, "key");
                let mut watch = Watch::shared();
                let start = watch.now();
                for _ in 0..10 {
                    assert!(told(limiter.check_blocking(&check)).is_admitted());
                }
                let (mut next, mut got) = (start + every, 0);
                while next <= start + lasts {
                    watch.wait_until(next);
                    got += u64::from(told(limiter.check_blocking(&check)).is_admitted());
                    // A poll that was late is not made up for.
                    next = (next + every).max(watch.now());
                }
                let about = admitted - 1..=admitted + 1;
                assert!(about.contains(&got), "{refill:?} asked every {every:?}: {got}");
            });
        }
    });
}

/// A wait counts the part of a token that is there already.
#[test]
fn b035_a_wait_accounts_for_the_partly_earned_token() {
    for stage in Stage::both() {
        let one = rule(token_bucket(1, Rate::per_second(1)));
        stage.at(0);
        assert!(stage.hit(&one).is_admitted());
        for (t, wait) in [(200, 800), (999, 1)] {
            stage.at(t);
            assert_eq!(stage.hit(&one).retry_after(), Some(ms(wait)), "on {} at {t}", stage.name);
        }
        stage.at(1_000);
        assert!(stage.hit(&one).is_admitted(), "on {}", stage.name);

        let ten = rule(token_bucket(10, Rate::per_second(10)));
        stage.at(0);
        assert_eq!(stage.hits(&ten, 10), 10);
        stage.at(150);
        let refused = stage.cost(&ten, 3);
        assert!(!refused.is_admitted(), "on {}", stage.name);
        assert_eq!(refused.retry_after(), Some(ms(150)), "on {}", stage.name);
    }
}

/// A bucket that gains several tokens in a millisecond gives every one of them.
#[test]
fn b037_rates_above_one_per_millisecond() {
    for stage in Stage::both() {
        let until_refused = |rule| (0..9_999).take_while(|_| stage.hit(rule).is_admitted()).count();
        let fast = rule(token_bucket(2_000, Rate::per_second(5_000)));
        stage.at(0);
        assert_eq!(until_refused(&fast), 2_000);
        stage.at(1);
        assert_eq!(until_refused(&fast), 5, "on {}", stage.name);
        stage.at(1_001);
        assert_eq!(until_refused(&fast), 2_000, "on {}", stage.name);

        let faster = rule(token_bucket(2, Rate::per_second(8_000)));
        stage.at(0);
        assert_eq!([(); 3].map(|()| stage.hit(&faster).is_admitted()), [true, true, false]);
        stage.at(1);
        assert_eq!([(); 2].map(|()| stage.hit(&faster).is_admitted()), [true, true]);
    }
}

/// Four nodes that call as fast as they can get what the bucket holds and gains, and no more.
#[test]
fn b037_a_fast_bucket_under_load_of_four_nodes() {
    let _loud = machine::loud();
    let prefix = unique("it");
    let rule = rule(token_bucket(6_000, Rate::per_second(6_000)));
    let nodes = [(); 4].map(|()| on_redis().prefix(&prefix).build().unwrap());
    for node in &nodes {
        block_on(node.ready()).unwrap();
    }
    let mut watch = Watch::shared();
    let start = watch.now();
    let admitted: u64 = thread::scope(|scope| {
        let calls = nodes.each_ref().map(|node| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let mut admitted = 0;
                    for _ in 0..35 {
                        let check = Check::new(&rule, "key");
                        let batch = (0..50).map(|_| node.check(&check));
                        for result in join_all(batch).await {
                            admitted += u64::from(told(result).is_admitted());
                        }
                    }
                    admitted
                })
            })
        });
        calls.into_iter().map(|node| node.join().unwrap()).sum()
    });
    let elapsed = u64::try_from((watch.now() - start).as_millis()).unwrap() + 1;
    assert!(admitted >= 6_000, "{admitted}");
    assert!(admitted <= 6_000 + 6 * elapsed, "{admitted} in {elapsed} ms");
    let keys: Vec<String> =
        Server::shared(Flavor::Installed).command(&["KEYS", &format!("{prefix}:*")]);
    assert_eq!(keys.len(), 1, "{keys:?}");
}

/// Years of idleness fill a bucket to its capacity, whatever the numbers.
#[test]
fn b038_long_idle_times_with_large_numbers() {
    const DAY: u64 = 86_400_000;
    for stage in Stage::both() {
        let buckets =
            [(1_000_000_000_000, Rate::per_second(1_000_000_000)), (5, Rate::new(1, ms(DAY)))];
        for (capacity, refill) in buckets {
            let rule = rule(token_bucket(capacity, refill));
            stage.at(0);
            assert_eq!(stage.cost(&rule, capacity).remaining(), 0);
            for days in [30, 30 + 3_652] {
                stage.at(days * DAY);
                let outcome = stage.hit(&rule);
                assert!(outcome.is_admitted(), "on {} after {days} days", stage.name);
                assert_eq!(
                    outcome.remaining(),
                    capacity - 1,
                    "on {} after {days} days",
                    stage.name
                );
            }
        }
    }
}

/// In a line, everything in front of a call counts.
#[test]
fn b089_a_leaky_buckets_wait_counts_the_whole_level() {
    for stage in Stage::both() {
        let rule = rule(leaky_bucket(10, Rate::per_second(1)));
        stage.at(0);
        assert!(stage.cost(&rule, 10).is_admitted());
        stage.at(1_000);
        let refused = stage.cost(&rule, 4);
        assert!(!refused.is_admitted(), "on {}", stage.name);
        assert_eq!(refused.retry_after(), Some(secs(3)), "on {}", stage.name);
        assert_eq!(refused.reset_after(), secs(9), "on {}", stage.name);
        stage.at(1_500);
        assert!(stage.cost(&rule, 1).is_admitted(), "on {}", stage.name);
    }
}
