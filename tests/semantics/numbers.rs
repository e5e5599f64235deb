//! Numbers that a call brings along: they apply at once, and what is used stays used.

use std::collections::VecDeque;
use std::time::Duration;

use ratelimit_kit::{Algorithm, Check, ConfigError, InvalidCall, Rate, RateLimitError, Rule};

use test_stage::algorithms::{
    Kind, fixed_window, leaky_bucket, ms, rule, secs, sliding_log, token_bucket,
};
use test_stage::stage::{Stage, on_redis, told};

fn with(rule: &Rule, numbers: Algorithm) -> Check<'_> {
    Check::new(rule, "key").with_algorithm(numbers)
}

/// A limit of 0 refuses every call, and names no time to come back.
#[test]
fn b039_a_limit_of_zero_refuses_without_a_retry_time() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.recovering(5, secs(1)));
            assert!(stage.hit(&rule).is_admitted());
            let none = with(&rule, kind.per(0, secs(1)));
            for _ in 0..3 {
                let outcome = stage.check(&none);
                assert!(!outcome.is_admitted(), "{kind:?} on {}", stage.name);
                assert_eq!(outcome.retry_after(), None, "{kind:?} on {}", stage.name);
                assert_eq!((outcome.limit(), outcome.remaining()), (0, 0), "{kind:?}");
            }
            let error = stage.limiter.check_blocking(&none).unwrap_err();
            assert_eq!((error.http_status(), error.retry_after()), (429, None));
            // Nothing of the old budget was lost by it.
            assert_eq!(stage.peek(&rule).remaining(), 4, "{kind:?} on {}", stage.name);
        }
    }
}

/// A window of 0 is a mistake, and the rule's own numbers stay in force.
#[test]
fn b039_a_window_of_zero_is_a_configuration_error() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.recovering(5, secs(1)));
            assert!(stage.hit(&rule).is_admitted());
            let zero = with(&rule, kind.per(5, Duration::ZERO));
            for _ in 0..3 {
                let mistake = stage.mistake(&zero);
                assert!(mistake.to_string().contains("is 0ns"), "{mistake} on {}", stage.name);
                let is_of_number = matches!(mistake, InvalidCall::Config(ConfigError::Number { rule: of, .. })
                        if *of == *rule.name());
                assert!(is_of_number, "{kind:?} on {}", stage.name);
            }
            let error = stage.limiter.check_blocking(&zero).unwrap_err();
            assert!(matches!(error, RateLimitError::Invalid(_)));
            assert_eq!(error.http_status(), 500);
            assert_eq!(stage.hits(&rule, 8), 4, "{kind:?} on {}", stage.name);
        }
    }
}

/// The buckets of B090: 16 at one in two seconds, then faster, then larger.
fn b090_buckets() -> [[Algorithm; 3]; 2] {
    let (slow, fast) = (Rate::new(1, secs(2)), Rate::per_second(50));
    [
        [token_bucket(16, slow), token_bucket(16, fast), token_bucket(32, fast)],
        [leaky_bucket(16, slow), leaky_bucket(16, fast), leaky_bucket(32, fast)],
    ]
}

/// A higher rate or capacity never refuses anybody.
#[test]
fn b090_raising_a_rate_never_causes_a_denial() {
    for stage in Stage::both() {
        for [start, faster, larger] in b090_buckets() {
            let rule = rule(start);
            assert_eq!(stage.hits(&rule, 3), 3);
            let first = stage.check(&with(&rule, faster));
            assert!(first.is_admitted(), "{faster:?} on {}", stage.name);
            assert_eq!(
                (first.limit(), first.remaining()),
                (16, 12),
                "{faster:?} on {}",
                stage.name
            );
            let second = stage.check(&with(&rule, larger));
            assert!(second.is_admitted(), "{larger:?} on {}", stage.name);
            assert_eq!(second.limit(), 32, "{larger:?} on {}", stage.name);
            assert!((11..=32).contains(&second.remaining()), "{second:?} on {}", stage.name);
            // A call may cost what its own numbers allow, whatever those of the rule are.
            let large = Check::new(&rule, "another key").with_algorithm(larger).with_cost(32);
            assert_eq!(stage.check(&large).remaining(), 0, "{larger:?} on {}", stage.name);
        }
    }
}

/// The same in real time.
#[test]
fn b090_raising_a_rate_in_real_time() {
    let limiter = on_redis().build().unwrap();
    for [start, faster, larger] in b090_buckets() {
        let rule = rule(start);
        for _ in 0..3 {
            assert!(told(limiter.check_blocking(&Check::new(&rule, "key"))).is_admitted());
        }
        let first = told(limiter.check_blocking(&with(&rule, faster)));
        assert!(first.is_admitted() && (12..=16).contains(&first.remaining()), "{first:?}");
        let second = told(limiter.check_blocking(&with(&rule, larger)));
        assert!(second.is_admitted() && (11..=32).contains(&second.remaining()), "{second:?}");
    }
}

/// A fixed window whose limit falls below what is used refuses until it ends.
#[test]
fn b091_lowering_a_fixed_window_below_what_is_used() {
    for stage in Stage::both() {
        let rule = rule(fixed_window(100, secs(1)));
        let lowered = with(&rule, fixed_window(10, secs(1)));
        stage.at(0);
        assert_eq!(stage.hits(&rule, 60), 60);
        stage.at(100);
        let refused = stage.check(&lowered);
        assert!(!refused.is_admitted(), "on {}", stage.name);
        assert_eq!((refused.limit(), refused.remaining()), (10, 0), "on {}", stage.name);
        assert_eq!(refused.retry_after(), Some(ms(900)), "on {}", stage.name);
        stage.at(1_000);
        let admitted = (0..20).filter(|_| stage.check(&lowered).is_admitted()).count();
        assert_eq!(admitted, 10, "on {}", stage.name);
    }
}

/// A token bucket whose capacity falls below what is in it keeps what fits.
#[test]
fn b091_lowering_a_token_bucket_below_what_is_available() {
    for stage in Stage::both() {
        let rule = rule(token_bucket(100, Rate::per_second(10)));
        let lowered = with(&rule, token_bucket(10, Rate::per_second(10)));
        stage.at(0);
        assert!(stage.cost(&rule, 21).is_admitted());
        stage.at(100);
        assert_eq!(stage.peek(&rule).remaining(), 80);
        let outcomes: Vec<_> = (0..20).map(|_| stage.check(&lowered)).collect();
        assert_eq!(outcomes.iter().filter(|o| o.is_admitted()).count(), 10, "on {}", stage.name);
        assert!(outcomes.iter().all(|o| o.remaining() < 10), "on {}", stage.name);
        for step in 2..30 {
            stage.at(step * 100);
            let admitted = [(); 2].map(|()| stage.check(&lowered).is_admitted());
            assert_eq!(admitted, [true, false], "on {} at {step}00", stage.name);
        }
    }
}

/// A log whose limit falls below its entries refuses until enough of them are gone.
#[test]
fn b091_lowering_a_sliding_log_below_what_is_used() {
    for stage in Stage::both() {
        let rule = rule(sliding_log(100, secs(1)));
        let lowered = with(&rule, sliding_log(10, secs(1)));
        for t in 0..60 {
            stage.at(t);
            assert!(stage.hit(&rule).is_admitted());
        }
        stage.at(100);
        let refused = stage.check(&lowered);
        assert!(!refused.is_admitted(), "on {}", stage.name);
        assert_eq!((refused.limit(), refused.remaining()), (10, 0), "on {}", stage.name);
        assert_eq!(refused.retry_after(), Some(ms(950)), "on {}", stage.name);

        // The entry of t = 49 is gone at 1,049, and that leaves 10: there is room from 1,050 on.
        let mut admitted: VecDeque<u64> = VecDeque::new();
        for t in 1_000..3_500 {
            stage.at(t);
            if stage.check(&lowered).is_admitted() {
                admitted.push_back(t);
            }
            if t < 1_050 {
                assert!(admitted.is_empty(), "on {} at {t}", stage.name);
            }
        }
        assert_eq!(admitted[0], 1_050, "on {}", stage.name);
        let most = admitted
            .iter()
            .map(|start| admitted.iter().filter(|t| (*start..*start + 1_000).contains(*t)).count());
        assert_eq!(most.max(), Some(10), "on {}", stage.name);
    }
}
