//! Where the rules of annotated functions and of layers find out that their names meet by accident.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::sync::Lazy;
use parking_lot::Mutex;

use super::{Algorithm, Rule};
use crate::error::{ConfigError, InvalidCall};

/// A rule's name, and its service if that is written on the rule. That it may be a limiter's own is not known
/// here: a process may have limiters of several services.
type FullName = (String, Option<&'static str>);

/// The first rule of each name. Rules in code: there are only so many.
static RULES: Lazy<Mutex<HashMap<FullName, First>>> = Lazy::new(Mutex::default);

/// For names that are made at run time, so that nobody fills the memory with them.
const MAX_MADE: usize = 10_000;

/// What is known of the first rule of a name.
#[derive(Clone, Copy)]
struct First {
    algorithm: Algorithm,
    location: &'static Location<'static>,
    has_written_name: bool,
}

impl Rule {
    /// Looks, at its first call, whether another rule in code has the same name and does not mean
    /// to share its budgets.
    pub(crate) fn register(&self) -> Result<(), ConfigError> {
        self.once(|| self.check_against_first(usize::MAX, |first| self.may_share_with(first)))
    }

    /// As [`register`](Self::register), for a rule that is made when the program runs: its numbers
    /// may be configured, and one place in the code makes it anew when they change.
    pub(crate) fn register_made(&self) -> Result<(), ConfigError> {
        self.once(|| self.check_against_first(MAX_MADE, |first| self.made_may_share_with(first)))
    }

    /// Judges as [`register_made`](Self::register_made) does, for who looks and changes nothing: the rule does not
    /// become the first of its name, by which others are judged.
    pub(crate) fn compare_made(&self) -> Result<(), ConfigError> {
        if self.registered.get().is_some() {
            return self.register_made();
        }
        let first = RULES.lock().get(&self.full_name()).copied();
        let judged = first.map_or(Ok(()), |first| self.made_may_share_with(first));
        judged.inspect_err(|error| self.log_mistake(&InvalidCall::Config(error.clone())))
    }

    fn made_may_share_with(&self, first: First) -> Result<(), ConfigError> {
        if first.location == self.location { Ok(()) } else { self.may_share_with(first) }
    }

    fn full_name(&self) -> FullName {
        (self.name().to_owned(), self.service())
    }

    fn once(&self, check: impl FnOnce() -> Result<(), ConfigError>) -> Result<(), ConfigError> {
        let Err(error) = self.registered.get_or_init(check) else { return Ok(()) };
        // Here no lock is held: what keeps the log may be limited too.
        self.log_mistake(&InvalidCall::Config(error.clone()));
        Err(error.clone())
    }

    /// Judges by the first rule of the name, or becomes that, unless so many are known.
    fn check_against_first(
        &self,
        max: usize,
        judge: impl FnOnce(First) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        let mut rules = RULES.lock();
        let has_room = rules.len() < max;
        match rules.entry(self.full_name()) {
            Entry::Occupied(first) => return judge(*first.get()),
            Entry::Vacant(entry) if has_room => {
                entry.insert(self.as_first());
                return Ok(());
            }
            Entry::Vacant(_) => {}
        }
        drop(rules);
        log_full(max);
        Ok(())
    }

    fn as_first(&self) -> First {
        let has_written_name = self.has_written_name();
        First { algorithm: self.algorithm, location: self.location, has_written_name }
    }

    fn may_share_with(&self, first: First) -> Result<(), ConfigError> {
        let (one, other) = (first.location, self.location);
        // One place in the code can be compiled twice: attributes above ours copy functions. But
        // all that one call of a macro writes has the place of that call.
        let may_be_a_copy = one == other;
        let are_written = self.has_written_name() && first.has_written_name;
        if !may_be_a_copy && !are_written {
            return Err(ConfigError::DefaultName { rule: self.name().into(), one, other });
        }
        if !self.algorithm.has_parameters_of(&first.algorithm) {
            return Err(ConfigError::OtherNumbers { rule: self.name().into(), one, other });
        }
        Ok(())
    }
}

/// Says, once, that names made at run time are no longer compared.
#[cold]
fn log_full(max: usize) {
    static IS_LOGGED: AtomicBool = AtomicBool::new(false);
    if !IS_LOGGED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            max,
            "rules have too many names: whether two of the others meet by accident is not noticed"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rule::{PER_CALL, PER_CALL_WINDOW, Rate};

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
        let (one, other) = (ONE.location, OTHER.location);
        let rule = "other numbers".into();
        assert_eq!(error, ConfigError::OtherNumbers { rule, one, other });
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
        static ONE: Rule = Rule::unnamed(path, "", bucket(5, 1));
        static OTHER: Rule = Rule::unnamed(path, "", bucket(5, 1));
        assert_eq!(ONE.register(), Ok(()));
        assert!(matches!(OTHER.register(), Err(ConfigError::DefaultName { .. })));
    }

    #[test]
    fn a_made_rule_meets_those_of_other_places_only() {
        static ONE: Rule = Rule::new("made", bucket(5, 1));
        static OTHER: Rule = Rule::new("configured", bucket(6, 1));
        static LATER: Rule = Rule::new("looked at", bucket(5, 1));
        assert_eq!(ONE.register(), Ok(()));
        assert_eq!(Rule::named("made", bucket(5, 1)).register_made(), Ok(()));
        let other = Rule::named("made", bucket(6, 1));
        let (one, location) = (ONE.location, other.location);
        let rule = "made".into();
        let expected = ConfigError::OtherNumbers { rule, one, other: location };
        assert_eq!(other.register_made(), Err(expected));

        // Who only looks is judged, and others are not judged by him.
        let look = || Rule::named("looked at", bucket(6, 1)).compare_made();
        assert_eq!((look(), LATER.register()), (Ok(()), Ok(())));
        assert!(matches!(look(), Err(ConfigError::OtherNumbers { .. })));

        // Its first place can make it anew with other numbers.
        let configured = |capacity| Rule::named("configured", bucket(capacity, 1));
        assert_eq!(configured(5).register_made(), Ok(()));
        assert_eq!(configured(6).register_made(), Ok(()));
        assert!(matches!(OTHER.register(), Err(ConfigError::OtherNumbers { .. })));
    }

    #[test]
    fn numbers_of_a_call_are_like_any() {
        let window = |limit, window| Algorithm::FixedWindow { limit, window };
        let alike = |one: Algorithm, other: Algorithm| one.has_parameters_of(&other);
        let second = Duration::from_secs(1);
        assert!(alike(window(PER_CALL, second), window(7, PER_CALL_WINDOW)));
        assert!(!alike(window(PER_CALL, second), window(7, 2 * second)));
        assert!(!alike(window(7, second), bucket(7, 1)));
        assert!(!alike(window(7, second), Algorithm::SlidingLog { limit: 7, window: second }));
    }
}
