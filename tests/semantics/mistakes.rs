//! Numbers that cannot be: the error says which rule, which argument and which value, each different
//! mistake is logged once, and nothing that is in force changes.

use std::time::Duration;

use ratelimit_kit::{Algorithm, Check, Rate, Rule};
use test_support::Log;

use test_stage::algorithms::{fixed_window, leaky_bucket, secs, sliding_log, token_bucket};
use test_stage::stage::Stage;

const INVALID: &str = "invalid rate limit configuration";

fn counter(limit: u64, window: Duration, sub_windows: u32) -> Algorithm {
    Algorithm::SlidingCounter { limit, window, sub_windows }
}

/// A running bucket that is given rates that cannot be: each is an error that names the field, and
/// one line, and the numbers before stay in force.
#[test]
fn b040_invalid_rates_change_nothing() {
    let updates = [
        (Rate::per_second(0), "`refill` is 0"),
        (Rate::new(1, Duration::ZERO), "the period of `refill` is 0ns"),
        (Rate::new(1, Duration::from_nanos(1)), "the period of `refill` is 1ns"),
        (Rate::new(u64::MAX, secs(1)), "`refill` is 18446744073709551615"),
        // Less than one in 142 years: 1e-12 per second would be one in 31,689 years.
        (Rate::new(1, secs(1_000_000_000_000)), "the period of `refill` is 1000000000000s"),
    ];
    for stage in Stage::both() {
        let rule = Rule::new("running", token_bucket(3, Rate::per_second(1)));
        let log = Log::default();
        log.during(|| {
            for (at, (rate, says)) in updates.iter().enumerate() {
                stage.at(at as u64 * 1_000);
                let update = Check::new(&rule, "key").with_algorithm(token_bucket(3, *rate));
                for _ in 0..3 {
                    let error = stage.mistake(&update).to_string();
                    assert!(error.contains("`running`"), "{error} on {}", stage.name);
                    assert!(error.contains(says), "{error} on {}", stage.name);
                }
                // The first time the bucket is full, and then it has what one second has brought.
                assert_eq!(stage.hits(&rule, 5), if at == 0 { 3 } else { 1 }, "{rate:?}");
            }
        });
        let lines = log.lines(INVALID);
        assert_eq!(lines.len(), 3, "zero, too short or too long, too large: {lines:#?}");
        assert!(lines.iter().all(|line| line.contains("ERROR") && line.contains("running")));
    }
}

/// Every argument is called by its name.
#[test]
fn an_invalid_number_is_named_with_its_rule_and_value() {
    let second = Rate::per_second(1);
    let cases = [
        (token_bucket(1, second), token_bucket(1 << 53, second), "`capacity` is 9007199254740992"),
        (leaky_bucket(1, second), leaky_bucket(1, Rate::per_second(0)), "`leak` is 0"),
        (fixed_window(1, secs(1)), fixed_window(1 << 53, secs(1)), "`limit` is 9007199254740992"),
        (fixed_window(1, secs(1)), fixed_window(1, Duration::ZERO), "`window` is 0ns"),
        (sliding_log(1, secs(1)), sliding_log(1_000_001, secs(1)), "`limit` is 1000001"),
        (counter(1, secs(1), 1), counter(1, secs(1), 101), "`sub_windows` is 101"),
        (counter(1, secs(1), 1), counter(1, secs(1), 0), "`sub_windows` is 0"),
        (fixed_window(1, secs(1)), token_bucket(1, second), "`token_bucket`"),
    ];
    for stage in Stage::both() {
        for (valid, invalid, says) in cases {
            let rule = Rule::new("some rule", valid);
            let error =
                stage.mistake(&Check::new(&rule, "key").with_algorithm(invalid)).to_string();
            assert!(error.contains("`some rule`") && error.contains(says), "{error}");
            // A rule that was written so says the same.
            if std::mem::discriminant(&valid) == std::mem::discriminant(&invalid) {
                let rule = Rule::new("some rule", invalid);
                assert_eq!(stage.mistake(&Check::new(&rule, "key")).to_string(), error);
            }
        }
    }
}
