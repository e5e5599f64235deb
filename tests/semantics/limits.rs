//! Exactly as much as the limit says, and what costs more than that.

use std::time::Instant;

use ratelimit_kit::{Check, ConfigError, InvalidCall, Rate, RateLimitError};
use test_support::{Flavor, Server};

use test_stage::algorithms::{HOUR, Kind, fixed_window, ms, rule, secs, token_bucket};
use test_stage::stage::{Stage, on_server, told};

/// A limit of N admits N, whether in calls of cost 1, in one of cost N, or in between.
#[test]
fn b032_exactly_n_for_n_of_1_and_10() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            for n in [1, 10] {
                let fresh = || rule(kind.per(n, HOUR));
                let ones = fresh();
                let admitted: Vec<bool> =
                    (0..n + 3).map(|_| stage.hit(&ones).is_admitted()).collect();
                let expected: Vec<bool> = (0..n + 3).map(|call| call < n).collect();
                assert_eq!(admitted, expected, "{kind:?} of {n} on {}", stage.name);

                let whole = fresh();
                assert!(stage.cost(&whole, n).is_admitted(), "{kind:?} of {n} on {}", stage.name);
                assert!(!stage.cost(&whole, 1).is_admitted(), "{kind:?} of {n} on {}", stage.name);
            }
            let mixed = rule(kind.per(10, HOUR));
            let admitted = [4, 4, 3, 2, 1].map(|cost| stage.cost(&mixed, cost).is_admitted());
            assert_eq!(admitted, [true, true, false, true, false], "{kind:?} on {}", stage.name);
        }
    }
}

/// A cost that the rule can never give is the caller's mistake, and takes nothing.
#[test]
fn b041_a_cost_larger_than_the_capacity() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.per(10, secs(1)));
            let exceeds = |cost| {
                let check = Check::new(&rule, "key").with_cost(cost);
                // Once in three times a busy machine lets even this thread go on at once.
                let at_once = (0..3).any(|_| {
                    let start = Instant::now();
                    assert!(stage.limiter.check_blocking(&check).is_err());
                    start.elapsed() < ms(50)
                });
                assert!(at_once, "{kind:?} on {}", stage.name);
                let error = stage.limiter.check_blocking(&check).unwrap_err();
                let expected =
                    InvalidCall::CostExceedsCapacity { rule: rule.name().into(), cost, limit: 10 };
                match &error {
                    RateLimitError::Invalid(mistake) => assert_eq!(*mistake, expected),
                    other => panic!("{kind:?} on {}: {other}", stage.name),
                }
                assert_eq!(error.retry_after(), None);
                assert_eq!(error.http_status(), 400);
            };
            exceeds(11);
            assert!(stage.cost(&rule, 10).is_admitted(), "{kind:?} on {}", stage.name);
            exceeds(u64::MAX);
        }
    }
}

/// Numbers up to 2^53 - 1 are counted exactly, and larger ones are not accepted.
#[test]
fn b044_large_integers_through_the_script() {
    const LARGE: u64 = 1_000_000_000_000_000;
    const LARGEST: u64 = 9_007_199_254_740_991;
    let server = Server::start(Flavor::Installed);
    let limiter = on_server(&server).build().unwrap();
    let algorithms = |limit| [fixed_window(limit, HOUR), token_bucket(limit, Rate::per_hour(1))];
    for algorithm in algorithms(LARGE) {
        let rule = rule(algorithm);
        for (cost, remaining) in [(1, LARGE - 1), (1, LARGE - 2), (LARGE - 2, 0)] {
            let outcome = told(limiter.check_blocking(&Check::new(&rule, "key").with_cost(cost)));
            assert!(outcome.is_admitted());
            assert_eq!((outcome.limit(), outcome.remaining()), (LARGE, remaining), "{algorithm:?}");
        }
        assert!(!told(limiter.check_blocking(&Check::new(&rule, "key"))).is_admitted());
    }
    for algorithm in algorithms(LARGEST) {
        let rule = rule(algorithm);
        let outcome = told(limiter.check_blocking(&Check::new(&rule, "key")));
        assert_eq!((outcome.limit(), outcome.remaining()), (LARGEST, LARGEST - 1), "{algorithm:?}");
        let rest = Check::new(&rule, "key").with_cost(LARGEST - 1);
        assert_eq!(told(limiter.check_blocking(&rest)).remaining(), 0, "{algorithm:?}");
    }
    for count in [LARGEST + 1, u64::MAX] {
        for algorithm in algorithms(count) {
            let rule = rule(algorithm);
            let error = limiter.check_blocking(&Check::new(&rule, "key")).unwrap_err();
            match &error {
                RateLimitError::Invalid(InvalidCall::Config(ConfigError::Number {
                    number,
                    ..
                })) => {
                    assert!(number.to_string().contains(&count.to_string()), "{number}");
                }
                other => panic!("{algorithm:?}: {other}"),
            }
            assert!(error.to_string().contains(&LARGEST.to_string()), "{error}");
        }
    }
    // The only error that a script call ever met is NOSCRIPT, with which an upload begins.
    let stats: String = server.command(&["INFO", "everything"]);
    let field = |name: &str, field: &str| -> u64 {
        let line = stats.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
        let value = line.split([':', ',']).find_map(|part| part.strip_prefix(&format!("{field}=")));
        value.unwrap().parse().unwrap()
    };
    let failed = field("cmdstat_evalsha", "failed_calls");
    assert_eq!(failed, field("errorstat_NOSCRIPT", "count"));
    assert_eq!(field("cmdstat_evalsha", "rejected_calls"), 0);
    assert_eq!(field("cmdstat_evalsha", "calls"), 2 * 4 + 2 * 2 + failed);
}
