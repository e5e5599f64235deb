//! What Redis keeps: it expires, never too early, and heals whatever it became.

use ratelimit_kit::{Check, Limiter, Rate, Rule};
use redis::cmd;
use test_support::unique;

use test_stage::algorithms::{leaky_bucket, ms, rule, secs, sliding_counter, token_bucket};
use test_stage::everywhere::{Kept, foreign, persisted};
use test_stage::place::Place;
use test_stage::real_time::{Late, on_schedule};
use test_stage::stage::{on_redis, told};

fn admitted(limiter: &Limiter, rule: &Rule) -> bool {
    told(limiter.check_blocking(&Check::new(rule, "key"))).is_admitted()
}

#[test]
fn b045_a_state_key_without_expiry_heals_itself() {
    persisted(Place::server());
}

/// State lives as long as it matters, and not a millisecond less.
#[test]
fn b047_ttl_is_never_shorter_than_the_recovery_time() {
    on_schedule(|redis| {
        let prefixes = [(); 3].map(|()| unique("it"));
        let [a, b, c] = prefixes.each_ref().map(|p| on_redis().prefix(p).build().unwrap());
        let (slow, fast) = (Rate::new(1, secs(15)), Rate::new(1, ms(250)));
        let rules = [
            rule(token_bucket(3, slow)),
            rule(leaky_bucket(1, Rate::new(1, secs(10)))),
            rule(token_bucket(1, fast)),
        ];
        for (limiter, rule) in [(&a, &rules[0]), (&b, &rules[1]), (&c, &rules[2])] {
            // Connected, on a key of its own that stays clear of what is measured.
            block_on_connected(limiter, rule);
        }
        let before = redis.watch.now();
        redis.begin_with(|_| {
            for _ in 0..3 {
                assert!(admitted(&a, &rules[0]));
            }
            assert!(admitted(&b, &rules[1]));
            assert!(admitted(&c, &rules[2]));
        })?;
        for (prefix, recovery) in prefixes.iter().zip([secs(45), secs(10), ms(250)]) {
            let mut state = Kept::at(Place::server(), prefix);
            let keys = state.keys();
            assert_eq!(keys.len(), 1, "{keys:?}");
            // When, by the server's clock; -1 if never.
            let expires: i64 = state.ask(cmd("PEXPIRETIME").arg(&keys[0]));
            let earliest = i64::try_from((before + recovery).as_millis()).unwrap();
            assert!(expires >= earliest, "{expires} is before {earliest}");
        }

        let mut call = |t, limiter, rule, expected| -> Result<(), Late> {
            redis.at(t);
            let admitted = admitted(limiter, rule);
            redis.in_time()?;
            assert_eq!(admitted, expected, "at {t}: {rule:?}");
            Ok(())
        };
        call(200, &c, &rules[2], false)?;
        call(260, &c, &rules[2], true)?;
        call(2_000, &b, &rules[1], false)?;
        call(5_000, &b, &rules[1], false)?;
        call(9_900, &b, &rules[1], false)?;
        call(10_050, &b, &rules[1], true)?;
        call(14_000, &a, &rules[0], false)?;
        call(15_050, &a, &rules[0], true)?;
        call(15_060, &a, &rules[0], false)
    });
}

fn block_on_connected(limiter: &Limiter, rule: &Rule) {
    let look = Check::new(rule, "another key").with_cost(0);
    assert!(told(limiter.check_blocking(&look)).is_admitted());
}

/// A sliding counter's window is kept until nothing of it is in sight.
#[test]
fn b050_the_previous_window_is_still_there_when_it_is_needed() {
    on_schedule(|redis| {
        let (a, b) = (rule(sliding_counter(10, secs(1))), rule(sliding_counter(10, secs(1))));
        redis.begin_at_multiple_of(secs(1));
        redis.at(0);
        assert_eq!(redis.admits(&a, 10)?, 10);
        redis.at(950);
        assert_eq!(redis.admits(&b, 10)?, 10);
        redis.at(1_500);
        let half_gone = redis.admits(&b, 12)?;
        redis.at(1_850);
        let nearly_gone = redis.admits(&a, 12)?;
        assert!((5..=6).contains(&half_gone), "{half_gone}");
        assert!((8..=9).contains(&nearly_gone), "{nearly_gone}");
        Ok(())
    });
}

#[test]
fn b051_a_foreign_or_damaged_value_under_a_state_key() {
    foreign(Place::server());
}
