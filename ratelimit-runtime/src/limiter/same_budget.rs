//! Checks of one call that are about one budget.
//!
//! Whether two keys are equal is up to those who call: who is named like an address, a transfer to oneself, a
//! list of recipients with one twice. So it is no mistake of anybody. Such checks are one, with the costs added
//! up: what each of them would have taken, one after the other. A sum above the limit takes all there is: else
//! whoever is called like something else could never be admitted.

use std::borrow::Cow;

use super::{Limiter, MAX_CHECKS, is_valid};
use crate::rule::{Check, OnError};

/// The same checks, each budget once.
#[inline]
pub(super) fn once_each<'c, 'r>(
    checks: Cow<'c, [Check<'r>]>,
    limiter: &Limiter,
) -> Cow<'c, [Check<'r>]> {
    // More are refused as they are: to compare each with each is quick for a few.
    if checks.len() < 2 || checks.len() > MAX_CHECKS {
        return checks;
    }
    let separates_groups = limiter.shared.store.separates_groups();
    // What makes no sense alone is a mistake, and not hidden by what it would be joined with.
    if !any_are_same(&checks, separates_groups) || !checks.iter().all(is_valid) {
        return checks;
    }
    Cow::Owned(joined(&checks, limiter.shared.on_error, separates_groups))
}

fn any_are_same(checks: &[Check<'_>], separates_groups: bool) -> bool {
    checks.iter().enumerate().any(|(n, check)| {
        checks.iter().take(n).any(|one| one.is_same_budget(check, separates_groups))
    })
}

#[cold]
fn joined<'c>(checks: &[Check<'c>], default: OnError, separates_groups: bool) -> Vec<Check<'c>> {
    let mut each: Vec<Check<'c>> = Vec::with_capacity(checks.len());
    for check in checks {
        match each.iter_mut().find(|one| one.is_same_budget(check, separates_groups)) {
            Some(one) => *one = one.joined(check, default),
            None => each.push(check.clone()),
        }
    }
    each
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::clock::{Clock, ManualClock};
    use crate::decision::RateLimitError;
    use crate::error::InvalidCall;
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Check, Mode, OnError, Rate, Rule};

    fn limiter() -> Limiter {
        Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap()
    }

    fn rule(limit: u64) -> Rule {
        Rule::new("same", Algorithm::FixedWindow { limit, window: Duration::from_mins(1) })
    }

    #[test]
    fn costs_of_one_budget_are_added() {
        let (limiter, rule) = (limiter(), rule(5));
        let check = |key: &'static str, cost| Check::new(&rule, key).with_cost(cost);
        let decision =
            limiter.check_all_blocking(&[check("a", 1), check("b", 1), check("a", 2)]).unwrap();
        let left: Vec<u64> =
            decision.outcomes().iter().map(crate::decision::Outcome::remaining).collect();
        assert_eq!(left, [2, 4], "one for each budget");
        let twice = limiter.check_all_blocking(&[check("a", 1), check("a", 2)]);
        assert!(matches!(twice, Err(RateLimitError::Limited(_))), "{twice:?}");
        assert!(limiter.check_all_blocking(&[check("a", 1), check("a", 1)]).is_ok());
        // More than there ever is, in one check.
        let Err(RateLimitError::Invalid(mistake)) =
            limiter.check_all_blocking(&[check("b", 6), check("b", 1)])
        else {
            panic!("a mistake of the caller's")
        };
        assert!(matches!(mistake, InvalidCall::CostExceedsCapacity { cost: 6, limit: 5, .. }));
        assert!(mistake.is_client_error());
    }

    /// `.limit(api, user or ip).limit(api, ip)` is no mistake of whoever has no user.
    #[test]
    fn a_sum_above_the_limit_takes_all_there_is() {
        for (limit, cost) in [(1, 1), (5, 3), (5, 5)] {
            let (limiter, rule) = (limiter(), rule(limit));
            let checks = [(); 2].map(|()| Check::new(&rule, "a").with_cost(cost));
            let decision = limiter.check_all_blocking(&checks).unwrap();
            assert_eq!((decision.outcomes().len(), decision.outcomes()[0].remaining()), (1, 0));
            let again = limiter.check_all_blocking(&checks);
            assert!(matches!(again, Err(RateLimitError::Limited(_))), "{again:?}");
        }
        // A limit of 0 refuses, as ever.
        let (limiter, rule) = (limiter(), rule(0));
        let refused = limiter.check_all_blocking(&[(); 2].map(|()| Check::new(&rule, "a")));
        assert!(matches!(refused, Err(RateLimitError::Limited(_))), "{refused:?}");
    }

    #[test]
    fn the_service_of_the_limiter_on_a_rule_is_none() {
        let limiter = || {
            let builder = Limiter::builder().embedded().service("mail");
            builder.clock(Clock::Manual(ManualClock::new())).build().unwrap()
        };
        let (plain, named, shop) =
            (rule(10), rule(10).with_service("mail"), rule(10).with_service("shop"));
        let left = |limiter: &Limiter, rules: &[&Rule]| -> Vec<u64> {
            let checks: Vec<_> =
                rules.iter().map(|rule| Check::new(rule, "a").with_cost(2)).collect();
            let decision = limiter.check_all_blocking(&checks).unwrap();
            decision.outcomes().iter().map(crate::decision::Outcome::remaining).collect()
        };
        for rules in [[&plain, &named], [&named, &plain]] {
            assert_eq!(left(&limiter(), &rules), [6], "one call");
            let limiter = limiter();
            assert_eq!(left(&limiter, &rules[..1]), [8]);
            assert_eq!(left(&limiter, &rules[1..]), [6], "two calls");
            assert_eq!(left(&limiter, &[&shop, rules[0]]), [8, 4], "another service");
            // Also where nothing is decided.
            crate::driver::block_on(limiter.reset(&Check::new(rules[1], "a"))).unwrap();
            assert_eq!(left(&limiter, &rules[..1]), [8]);
        }
    }

    /// On one Redis as in this process the group is not a part of the key.
    #[test]
    fn two_groups_are_one_budget_unless_the_store_parts_them() {
        let rule = rule(10);
        let [one, other] = ["g", "h"].map(|group| Check::new(&rule, "a").with_group(group));
        assert!(one.is_same_budget(&other, false));
        assert!(!one.is_same_budget(&other, true));
        assert!(one.is_same_budget(&one, true));
    }

    #[test]
    fn what_is_watched_takes_nothing_from_what_is_enforced() {
        let (limiter, enforced) = (limiter(), rule(2));
        let watched = rule(2).with_mode(Mode::Shadow);
        for checks in [[&enforced, &watched], [&watched, &enforced]] {
            let checks = checks.map(|rule| Check::new(rule, "a"));
            let decision = limiter.check_all_blocking(&checks).unwrap();
            assert!(!decision.outcomes()[0].is_shadow());
            assert_eq!(decision.outcomes().len(), 1);
        }
        assert!(limiter.check_blocking(&Check::new(&enforced, "a")).is_err());
    }

    #[test]
    fn the_stricter_of_two_counts() {
        let (open, closed) =
            (rule(9).with_on_error(OnError::Open), rule(9).with_on_error(OnError::Closed));
        let few = Algorithm::FixedWindow { limit: 3, window: Duration::from_mins(1) };
        for (one, other) in [(&open, &closed), (&closed, &open)] {
            let joined = Check::new(one, "a")
                .joined(&Check::new(other, "a").with_algorithm(few), OnError::Local);
            assert_eq!(joined.rule().on_error(), Some(OnError::Closed));
            assert_eq!((joined.algorithm(), joined.cost()), (few, 2));
        }
    }

    /// Neither is stricter than the other in all numbers.
    #[test]
    fn each_number_of_the_joined_check_is_the_stricter() {
        use Algorithm::{FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket};
        let (second, day) = (Duration::from_secs(1), Duration::from_hours(24));
        let (slow, fast) = (Rate::per_day(9), Rate::per_second(1_000));
        let counter = |limit, window, sub_windows| SlidingCounter { limit, window, sub_windows };
        let numbers = [
            [(9, slow), (3, fast), (3, slow)]
                .map(|(capacity, refill)| TokenBucket { capacity, refill }),
            [(9, slow), (3, fast), (3, slow)]
                .map(|(capacity, leak)| LeakyBucket { capacity, leak }),
            [(9, day), (3, second), (3, day)].map(|(limit, window)| FixedWindow { limit, window }),
            [(9, day), (3, second), (3, day)].map(|(limit, window)| SlidingLog { limit, window }),
            [counter(9, day, 10), counter(3, second, 60), counter(3, day, 10)],
        ];
        for [one, other, stricter] in numbers {
            let rule = Rule::new("same", one);
            let [one, other] = [one, other].map(|own| Check::new(&rule, "a").with_algorithm(own));
            assert_eq!(one.joined(&other, OnError::Local).algorithm(), stricter);
            assert_eq!(other.joined(&one, OnError::Local).algorithm(), stricter);
            // What takes nothing has no say.
            assert_eq!(
                one.joined(&other.with_cost(0), OnError::Local).algorithm(),
                one.algorithm()
            );
        }
    }

    #[test]
    fn what_makes_no_sense_alone_makes_none_with_another() {
        let (limiter, rule) = (limiter(), rule(5));
        let never = Algorithm::FixedWindow { limit: 5, window: Duration::ZERO };
        let checks = [Check::new(&rule, "a"), Check::new(&rule, "a").with_algorithm(never)];
        assert!(matches!(limiter.check_all_blocking(&checks), Err(RateLimitError::Invalid(_))));
    }

    #[test]
    fn more_than_a_script_is_asked_for_is_the_callers_mistake() {
        let (limiter, rule) = (limiter(), rule(5));
        let checks: Vec<Check<'_>> = (0..65_u32).map(|n| Check::new(&rule, n)).collect();
        let Err(error) = limiter.check_all_blocking(&checks) else { panic!("too many") };
        assert_eq!(error.http_status(), 400);
        assert!(limiter.check_all_blocking(&checks[..64]).is_ok());
    }
}
