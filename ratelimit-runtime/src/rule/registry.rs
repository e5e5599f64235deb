//! Where the rules of annotated functions find out that their names meet by accident.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use once_cell::sync::Lazy;
use parking_lot::Mutex;

use super::{Algorithm, Rule};
use crate::__private::{PER_CALL, PER_CALL_RATE, PER_CALL_WINDOW};
use crate::error::ConfigError;

/// The first rule of each name. Rules in code: there are only so many.
static RULES: Lazy<Mutex<HashMap<&'static str, &'static Rule>>> = Lazy::new(Mutex::default);

impl Rule {
    /// Looks, at its first call, whether another rule in code has the same name and does not mean
    /// to share its budgets.
    pub(crate) fn register(&'static self) -> Result<(), ConfigError> {
        *self.registered.get_or_init(|| match RULES.lock().entry(self.name()) {
            Entry::Vacant(place) => {
                place.insert(self);
                Ok(())
            }
            Entry::Occupied(place) => self.may_share_with(place.get()),
        })
    }

    fn may_share_with(&self, first: &'static Rule) -> Result<(), ConfigError> {
        let (one, other) = (first.place, self.place);
        // One place in the code can be compiled twice: attributes above ours copy functions. But
        // all that one call of a macro writes has the place of that call.
        let may_be_a_copy = one == other;
        let are_written = self.has_written_name() && first.has_written_name();
        if !may_be_a_copy && !are_written {
            return Err(ConfigError::DefaultName { one, other });
        }
        if !alike(self.algorithm, first.algorithm) {
            return Err(ConfigError::OtherNumbers { one, other });
        }
        Ok(())
    }
}

/// Whether two algorithms have the same numbers, as far as these are not computed per call.
fn alike(one: Algorithm, other: Algorithm) -> bool {
    use Algorithm::{FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket};
    let counts = |one, other| one == other || [one, other].contains(&PER_CALL);
    let rates = |one, other| one == other || [one, other].contains(&PER_CALL_RATE);
    let windows = |one, other| one == other || [one, other].contains(&PER_CALL_WINDOW);
    if !counts(one.limit(), other.limit()) {
        return false;
    }
    match (one, other) {
        (TokenBucket { refill: one, .. }, TokenBucket { refill: other, .. })
        | (LeakyBucket { leak: one, .. }, LeakyBucket { leak: other, .. }) => rates(one, other),
        (FixedWindow { window: one, .. }, FixedWindow { window: other, .. })
        | (SlidingLog { window: one, .. }, SlidingLog { window: other, .. }) => windows(one, other),
        // Sub-windows do not matter to what is shared: counts move when their width changes.
        (SlidingCounter { window: one, .. }, SlidingCounter { window: other, .. }) => {
            windows(one, other)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rule::Rate;

    const fn bucket(capacity: u64, permits: u64) -> Algorithm {
        Algorithm::TokenBucket { capacity, refill: Rate::per_second(permits) }
    }

    #[test]
    fn a_name_is_shared_on_purpose() {
        static ONE: Rule = Rule::new("shared on purpose", bucket(5, 1));
        static OTHER: Rule = Rule::new("shared on purpose", bucket(5, 1));
        assert_eq!((ONE.register(), OTHER.register()), (Ok(()), Ok(())));
    }

    #[test]
    fn other_numbers_are_reported_with_both_places() {
        static ONE: Rule = Rule::new("other numbers", bucket(5, 1));
        static OTHER: Rule = Rule::new("other numbers", bucket(6, 1));
        assert_eq!(ONE.register(), Ok(()));
        let error = OTHER.register().unwrap_err();
        let (one, other) = (ONE.place, OTHER.place);
        assert_eq!(error, ConfigError::OtherNumbers { one, other });
        assert!(error.to_string().contains(&format!("{}:{}", one.file(), one.line())));
        // Said every time, not only the first.
        assert_eq!(OTHER.register(), Err(error));
    }

    #[test]
    fn one_place_can_be_compiled_twice_but_not_with_other_numbers() {
        // The place of all that a macro writes is the call of the macro.
        macro_rules! three {
            () => {
                [
                    Rule::new("in one place", bucket(5, 1)),
                    Rule::new("in one place", bucket(5, 1)),
                    Rule::new("in one place", bucket(6, 1)),
                ]
            };
        }
        static RULES: [Rule; 3] = three!();
        let registered: Vec<_> = RULES.iter().map(Rule::register).collect();
        assert!(matches!(registered[..], [Ok(()), Ok(()), Err(ConfigError::OtherNumbers { .. })]));
    }

    #[test]
    fn default_names_are_not_shared() {
        const fn path() -> &'static str {
            "app::send::f"
        }
        static ONE: Rule = Rule::__unnamed(path, "", bucket(5, 1));
        static OTHER: Rule = Rule::__unnamed(path, "", bucket(5, 1));
        assert_eq!(ONE.register(), Ok(()));
        assert!(matches!(OTHER.register(), Err(ConfigError::DefaultName { .. })));
    }

    #[test]
    fn numbers_of_a_call_are_like_any() {
        let window = |limit, window| Algorithm::FixedWindow { limit, window };
        assert!(alike(window(PER_CALL, Duration::from_secs(1)), window(7, PER_CALL_WINDOW)));
        assert!(!alike(
            window(PER_CALL, Duration::from_secs(1)),
            window(7, Duration::from_secs(2))
        ));
        assert!(!alike(window(7, Duration::from_secs(1)), bucket(7, 1)));
    }
}
