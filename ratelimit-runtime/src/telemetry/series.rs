//! [`Series`]: what is counted and logged of a rule, under its name, unless there are too many names.
//!
//! A series that a recorder has seen stays, and the facade has no way to take it back. So names that
//! are made at run time could grow labels without bound. They have series of their own as long as no
//! more of them have had one than are alive at a time; all others share one, called `other`.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use once_cell::sync::Lazy;
use parking_lot::Mutex;

#[cfg(feature = "metrics")]
use super::RuleNumbers;
use super::tally::{self, Look, Tally};
use crate::driver;
use crate::event::LimitEvent;
use crate::name::bounded;

/// So many names that are made at run time have series, however few of them are alive.
const FEW: usize = 10;

/// So many names of a kind have, however many are alive.
const MOST: usize = 1_000;

/// The label of all others.
pub(super) const OTHER: &str = "other";

/// What is counted and logged under one name.
#[derive(Debug)]
pub(crate) struct Series {
    label: Arc<str>,
    tally: Tally,
    #[cfg(feature = "metrics")]
    pub(super) numbers: RuleNumbers,
}

impl Series {
    fn new(label: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            #[cfg(feature = "metrics")]
            numbers: RuleNumbers::new(&label),
            label,
            tally: Tally::default(),
        })
    }

    /// The rule's name, or `other`.
    #[cfg(any(test, feature = "metrics"))]
    pub(crate) fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// Notes a call that the rule did not simply admit, for the log.
    pub(crate) fn note(self: &Arc<Self>, event: &LimitEvent<'_>, with_key: bool) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let look = self.tally.count(event, with_key);
        if look != Look::None
            && let Some(next) = self.tally.look(look, tally::now(), &self.label)
        {
            self.schedule(next);
        }
    }

    /// Has the limiter's own thread write the next lines.
    fn schedule(self: &Arc<Self>, after: Duration) {
        let series = Arc::clone(self);
        let is_scheduled = driver::later(after, move || {
            let next = series.tally.tick(tally::now(), &series.label);
            if let Some(next) = next {
                series.schedule(next);
            }
        });
        if !is_scheduled {
            self.tally.is_scheduled.store(false, Ordering::Relaxed);
        }
    }
}

/// The series of all names.
#[derive(Default)]
pub(crate) struct Names(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The names that rules have now.
    alive: HashMap<Arc<str>, Weak<Named>>,
    /// How many of them were made at run time.
    alive_made: usize,
    /// The names that have series, for ever.
    series: HashMap<Arc<str>, Arc<Series>>,
    /// How many of these were made at run time.
    made: usize,
    other: Option<Arc<Series>>,
}

/// A name that rules have, and its series. Clones of a rule share it.
pub(crate) struct Named {
    name: Arc<str>,
    is_made: bool,
    series: Arc<Series>,
    names: &'static Names,
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Named").field(&self.series.label).finish()
    }
}

impl Named {
    pub(crate) const fn series(&self) -> &Arc<Series> {
        &self.series
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let mut known = self.names.0.lock();
        // Meanwhile another rule may have come to the name.
        if known.alive.get(&self.name).is_some_and(|named| named.strong_count() == 0) {
            known.alive.remove(&self.name);
            known.alive_made -= usize::from(self.is_made);
        }
    }
}

impl Names {
    /// Those of the process.
    pub(crate) fn of_process() -> &'static Self {
        static NAMES: Lazy<Names> = Lazy::new(Names::default);
        &NAMES
    }

    /// The name of a rule that is alive from now on; is it made at run time?
    pub(crate) fn named(&'static self, name: &str, is_made: bool) -> Arc<Named> {
        let mut known = self.0.lock();
        if let Some(named) = known.alive.get(name).and_then(Weak::upgrade) {
            return named;
        }
        let name: Arc<str> = name.into();
        // One whose last rule is just going has its place, and leaves it to us.
        if !known.alive.contains_key(&name) {
            known.alive_made += usize::from(is_made);
        }
        let series = known.series(&name, is_made);
        let named = Arc::new(Named { name: name.clone(), is_made, series, names: self });
        known.alive.insert(name, Arc::downgrade(&named));
        named
    }

    /// All series with names of their own.
    #[cfg(feature = "metrics")]
    pub(super) fn all(&self) -> Vec<Arc<Series>> {
        self.0.lock().series.values().cloned().collect()
    }
}

impl Known {
    fn series(&mut self, name: &Arc<str>, is_made: bool) -> Arc<Series> {
        if let Some(series) = self.series.get(name) {
            return series.clone();
        }
        let has_room = if is_made {
            self.made < self.alive_made.clamp(FEW, MOST)
        } else {
            self.series.len() - self.made < MOST
        };
        if !has_room {
            return self.other.get_or_insert_with(|| Series::new(OTHER.into())).clone();
        }
        self.made += usize::from(is_made);
        let series = Series::new(bounded(name.clone()));
        self.series.insert(name.clone(), series.clone());
        series
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names() -> &'static Names {
        Box::leak(Box::default())
    }

    fn labels(named: &[Arc<Named>]) -> BTreeSet<String> {
        named.iter().map(|named| named.series().label().to_string()).collect()
    }

    #[test]
    fn b104_names_that_come_and_go_do_not_grow_labels() {
        for alive in [1, 10, 20] {
            let (names, mut seen) = (names(), BTreeSet::new());
            let mut rules = std::collections::VecDeque::new();
            for n in 0..1_000 {
                if rules.len() == alive {
                    rules.pop_front();
                }
                rules.push_back(names.named(&format!("rule {n}"), true));
                seen.extend(labels(rules.make_contiguous()));
            }
            assert_eq!(seen.len(), alive.max(FEW) + 1, "{alive} alive: {seen:?}");
            assert!(seen.contains(OTHER) && names.0.lock().alive.len() == alive);
        }
    }

    #[test]
    fn names_that_stay_have_series_of_their_own_up_to_a_maximum() {
        let names = names();
        let alive: Vec<_> = (0..1_200).map(|n| names.named(&format!("rule {n}"), true)).collect();
        assert_eq!(labels(&alive).len(), MOST + 1);
        // Those in the code are not kept out by them, and have a maximum of their own.
        let written: Vec<_> = (0..1_200).map(|n| names.named(&format!("fn {n}"), false)).collect();
        assert_eq!(labels(&written).len(), MOST + 1);
    }

    #[test]
    fn a_name_that_comes_back_has_its_series() {
        let names = names();
        let first = names.named("sms", true).series().clone();
        for n in 0..100 {
            names.named(&n.to_string(), true);
        }
        assert!(Arc::ptr_eq(&first, names.named("sms", true).series()));
        assert_eq!(&**names.named("100", true).series().label(), OTHER);
    }

    #[test]
    fn a_label_is_short_and_has_no_control_characters() {
        let name = format!("{}\u{1b}[31m\n", "x".repeat(10_000));
        let label = names().named(&name, false).series().label().clone();
        assert!(label.len() <= 128 && !label.contains(char::is_control), "{label}");
    }
}
