//! Checks of one call that are about one budget.
//!
//! Whether two keys are equal is up to those who call: who is named like an address, a transfer to oneself, a
//! list of recipients with one twice. So it is no mistake of anybody. Such checks are one, with the costs added
//! up: what each of them would have taken, one after the other.

use std::borrow::Cow;

use super::MAX_CHECKS;
use crate::rule::{Check, OnError};

/// The same checks, each budget once. `default` is for rules that do not say what counts in an outage.
#[inline]
pub(super) fn once_each<'c, 'r>(
    checks: Cow<'c, [Check<'r>]>,
    default: OnError,
) -> Cow<'c, [Check<'r>]> {
    // More are refused as they are: to compare each with each is quick for a few.
    if checks.len() < 2 || checks.len() > MAX_CHECKS || !any_are_same(&checks) {
        return checks;
    }
    Cow::Owned(joined(&checks, default))
}

fn any_are_same(checks: &[Check<'_>]) -> bool {
    checks
        .iter()
        .enumerate()
        .any(|(n, check)| checks.iter().take(n).any(|one| one.is_same_budget(check)))
}

#[cold]
fn joined<'c>(checks: &[Check<'c>], default: OnError) -> Vec<Check<'c>> {
    let mut each: Vec<Check<'c>> = Vec::with_capacity(checks.len());
    for check in checks {
        match each.iter_mut().find(|one| one.is_same_budget(check)) {
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
    use crate::error::{Mistake, RateLimitError};
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Check, Mode, OnError, Rule};

    fn limiter() -> Limiter {
        Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap()
    }

    fn rule(limit: u64) -> Rule {
        Rule::new("same", Algorithm::FixedWindow { limit, window: Duration::from_mins(1) })
    }

    #[test]
    fn costs_of_one_budget_are_added() {
        let (limiter, rule) = (limiter(), rule(5));
        let check = |key: &'static str, cost| Check::new(&rule, key).cost(cost);
        let decision =
            limiter.check_all_blocking(&[check("a", 1), check("b", 1), check("a", 2)]).unwrap();
        let left: Vec<u64> = decision.outcomes().iter().map(|outcome| outcome.remaining).collect();
        assert_eq!(left, [2, 4], "one for each budget");
        let twice = limiter.check_all_blocking(&[check("a", 1), check("a", 2)]);
        assert!(matches!(twice, Err(RateLimitError::Refused(_))), "{twice:?}");
        assert!(limiter.check_all_blocking(&[check("a", 1), check("a", 1)]).is_ok());
        // More than there ever is, as in one check.
        let Err(RateLimitError::Mistake(mistake)) =
            limiter.check_all_blocking(&[check("b", 3), check("b", 3)])
        else {
            panic!("a mistake of the caller's")
        };
        assert!(matches!(mistake, Mistake::CostExceedsCapacity { cost: 6, limit: 5, .. }));
        assert!(mistake.is_callers());
    }

    #[test]
    fn what_is_watched_takes_nothing_from_what_is_enforced() {
        let (limiter, enforced) = (limiter(), rule(2));
        let watched = rule(2).mode(Mode::Shadow);
        for checks in [[&enforced, &watched], [&watched, &enforced]] {
            let checks = checks.map(|rule| Check::new(rule, "a"));
            let decision = limiter.check_all_blocking(&checks).unwrap();
            assert!(!decision.outcomes()[0].shadow);
            assert_eq!(decision.outcomes().len(), 1);
        }
        assert!(limiter.check_blocking(&Check::new(&enforced, "a")).is_err());
    }

    #[test]
    fn the_stricter_of_two_counts() {
        let (open, closed) = (rule(9).on_error(OnError::Open), rule(9).on_error(OnError::Closed));
        let few = Algorithm::FixedWindow { limit: 3, window: Duration::from_mins(1) };
        for (one, other) in [(&open, &closed), (&closed, &open)] {
            let joined =
                Check::new(one, "a").joined(&Check::new(other, "a").numbers(few), OnError::Local);
            assert_eq!(joined.rule().own_on_error(), Some(OnError::Closed));
            assert_eq!((joined.algorithm(), joined.permits()), (few, 2));
        }
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
