//! Several rules on one function are one check.

use ratelimit_kit::{Limited, RateLimitError, rate_limit};

use crate::support::{Error, LIMITER, now};

fn refusal(result: Result<(), Error>) -> Limited {
    match result {
        Err(Error::Limited(RateLimitError::Limited(refusal))) => refusal,
        other => panic!("not a refusal: {other:?}"),
    }
}

fn remaining(refusal: &Limited) -> Vec<u64> {
    refusal.decision().outcomes().iter().map(|outcome| outcome.remaining()).collect()
}

#[rate_limit(key = "id", algo = fixed_window, limit = 200, window = 60, limiter = LIMITER)]
#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60)]
fn b020_two_rules(id: u64) -> Result<(), Error> {
    assert_eq!(id, 1);
    Ok(())
}

#[test]
fn b020_a_refused_call_takes_nothing_from_any_rule() {
    assert!(b020_two_rules(1).is_ok());
    assert!(b020_two_rules(1).is_ok());
    for _ in 0..3 {
        let refusal = refusal(b020_two_rules(1));
        assert_eq!(refusal.limit(), 2);
        assert_eq!(remaining(&refusal), [198, 0]);
    }
}

/// The same path is the same attribute, whatever it is called where it stands.
#[test]
fn a_path_or_name_of_ones_own_each_time() {
    use ratelimit_kit as rl;
    use ratelimit_kit::rate_limit as limit;

    #[rl::rate_limit(name = "path-a", capacity = 9, refill = 1, limiter = LIMITER)]
    #[rl::rate_limit(name = "path-b", capacity = 1, refill = 1)]
    fn by_path() -> Result<(), Error> {
        Ok(())
    }

    #[limit(name = "name-a", capacity = 9, refill = 1, limiter = LIMITER)]
    #[limit(name = "name-b", capacity = 1, refill = 1)]
    fn by_name() -> Result<(), Error> {
        Ok(())
    }

    assert!(by_path().is_ok() && by_name().is_ok());
    assert_eq!(remaining(&refusal(by_path())), [8, 0]);
    assert_eq!(remaining(&refusal(by_name())), [8, 0]);
}

/// Docs, other attributes, paths and `cfg_attr` in between.
#[cfg_attr(all(), rate_limit(name = "stack-a", capacity = 9, refill = 1, limiter = LIMITER))]
#[allow(clippy::unused_async)]
/// More docs.
#[ratelimit_kit::rate_limit(name = "stack-b", capacity = 8, refill = 1)]
#[::ratelimit_kit::rate_limit(name = "stack-c", capacity = 7, refill = 1)]
#[tracing::instrument]
#[cfg_attr(any(), rate_limit(name = "stack-never", capacity = 1, refill = 1))]
#[cfg_attr(all(), rate_limit(name = "stack-d", capacity = 6, refill = 1), inline(never))]
#[rate_limit(name = "stack-e", capacity = 3, refill = 1)]
async fn through_everything() -> Result<(), Error> {
    Ok(())
}

#[test]
fn later_attributes_are_absorbed_in_order() {
    for _ in 0..3 {
        assert!(now(through_everything()).is_ok());
    }
    let refusal = refusal(now(through_everything()));
    let rules: Vec<&str> = refusal.decision().outcomes().iter().map(|o| o.rule()).collect();
    assert_eq!(rules, ["stack-a", "stack-b", "stack-c", "stack-d", "stack-e"]);
    assert_eq!(remaining(&refusal), [6, 5, 4, 3, 0]);
    assert_eq!(refusal.rule(), "stack-e");
}

mod order {
    use super::*;

    pub(crate) mod one {
        use super::*;

        #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
        #[rate_limit(algo = fixed_window, limit = 2, window = "1h")]
        pub(crate) fn f() -> Result<(), Error> {
            Ok(())
        }
    }

    pub(crate) mod two {
        use super::*;

        #[rate_limit(algo = fixed_window, limit = 2, window = 3600, limiter = LIMITER)]
        #[rate_limit(refill = "1/s", capacity = 2)]
        pub(crate) fn f() -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn names_do_not_depend_on_the_order() {
        let names = |f: fn() -> Result<(), Error>| {
            assert!(f().is_ok() && f().is_ok());
            let refusal = refusal(f());
            let outcomes = refusal.decision().outcomes().iter();
            let mut names: Vec<String> = outcomes
                .map(|outcome| outcome.rule().rsplit_once("::").unwrap().1.to_owned())
                .collect();
            names.sort();
            names
        };
        let expected = ["f#fixed_window,2,1h", "f#token_bucket,2,1/s"];
        assert_eq!(names(one::f), expected);
        assert_eq!(names(two::f), expected);
    }
}

#[test]
fn when_several_refuse_the_longest_wait_counts() {
    #[rate_limit(name = "short", algo = fixed_window, limit = 1, window = 10, limiter = LIMITER)]
    #[rate_limit(name = "long", algo = fixed_window, limit = 1, window = 60)]
    #[rate_limit(name = "middle", algo = fixed_window, limit = 1, window = 30)]
    fn f() -> Result<(), Error> {
        Ok(())
    }
    assert!(f().is_ok());
    let refusal = refusal(f());
    assert_eq!(refusal.rule(), "long");
    assert_eq!(refusal.retry_after(), Some(std::time::Duration::from_secs(60)));
}

#[test]
fn a_rule_that_does_not_apply_leaves_the_others() {
    #[rate_limit(name = "guests", capacity = 1, refill = 1, when = guest, limiter = LIMITER)]
    #[rate_limit(name = "all", capacity = 3, refill = 1)]
    fn f(guest: bool) -> Result<(), Error> {
        assert!([true, false].contains(&guest));
        Ok(())
    }
    assert!(f(true).is_ok());
    assert_eq!(refusal(f(true)).rule(), "guests");
    assert!(f(false).is_ok());
    assert!(f(false).is_ok());
    assert_eq!(refusal(f(false)).rule(), "all");
}

#[test]
fn one_rule_can_count_for_two_keys() {
    #[rate_limit(name = "transfers", key = "from", capacity = 2, refill = 1, limiter = LIMITER)]
    #[rate_limit(name = "transfers", key = "to", capacity = 2, refill = 1)]
    fn transfer(from: &str, to: &str) -> Result<(), Error> {
        assert_ne!(from, to);
        Ok(())
    }
    assert!(transfer("a", "b").is_ok());
    assert!(transfer("b", "c").is_ok());
    assert_eq!(refusal(transfer("b", "d")).rule(), "transfers");
    assert!(transfer("d", "a").is_ok());
}

#[test]
fn one_use_under_another_name_is_fine() {
    use ratelimit_kit::rate_limit as rl;
    #[rl(name = "alias", capacity = 1, refill = 1, limiter = LIMITER)]
    fn f() -> Result<(), Error> {
        Ok(())
    }
    assert!(f().is_ok());
    assert_eq!(refusal(f()).rule(), "alias");
}
