//! What is called: the rules, and which of them a call takes for which key.
//!
//! Keys change with every second of the wall clock, and windows are an hour: so all nodes contest
//! every key, what may be admitted of a key is a plain number, and a fault always meets keys in use.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ratelimit_runtime::{Algorithm, Check, Rate, Rule};

/// Calls of all nodes together, in a second.
pub(crate) const PER_SECOND: u64 = 512;

/// Keys of each case, in a second.
pub(crate) const KEYS: usize = 5;

/// Each algorithm alone, then two rules in one group, then two in none.
pub(crate) const CASES: usize = ALGORITHMS + 2;

const ALGORITHMS: usize = 5;

/// About half of the calls that a key gets.
const LIMIT: u64 = PER_SECOND / (CASES * KEYS) as u64 / 2;

/// Of the second of two rules: less than of the first, so that it refuses what that has charged.
const TIGHT: u64 = LIMIT - 2;

const HOUR: Duration = Duration::from_hours(1);

/// One case with one of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    case: usize,
    key: usize,
}

impl Target {
    /// How many there are.
    pub(crate) const COUNT: usize = CASES * KEYS;

    pub(crate) fn new(number: usize) -> Self {
        Self { case: number % CASES, key: number / CASES % KEYS }
    }

    /// The number of its key.
    pub(crate) fn key(self) -> usize {
        self.key
    }

    /// The rules that it takes, as places in [`rules`]. For two rules the algorithm of the first
    /// goes with the key, so that a refusal of the second gives back in all algorithms.
    pub(crate) fn rules(self) -> &'static [usize] {
        const SINGLE: [[usize; 1]; ALGORITHMS] = [[0], [1], [2], [3], [4]];
        const GROUPED: [[usize; 2]; ALGORITHMS] = [[5, 10], [6, 10], [7, 10], [8, 10], [9, 10]];
        const APART: [[usize; 2]; ALGORITHMS] = [[11, 16], [12, 16], [13, 16], [14, 16], [15, 16]];
        match self.case.checked_sub(ALGORITHMS) {
            None => &SINGLE[self.case],
            Some(0) => &GROUPED[self.key % ALGORITHMS],
            Some(_) => &APART[self.key % ALGORITHMS],
        }
    }

    /// The checks of a call in a second.
    pub(crate) fn checks(self, second: u64) -> Vec<Check<'static>> {
        let key = format!("{second}-{}", self.key);
        let check = |rule: &usize| {
            let check = Check::new(&rules()[*rule], key.as_str());
            if self.case == ALGORITHMS { check.with_group(key.as_str()) } else { check }
        };
        self.rules().iter().map(check).collect()
    }
}

/// All rules.
pub(crate) fn rules() -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let stems = ["alone", "grouped", "apart"];
        let all = stems.iter().flat_map(|stem| {
            let named = |(name, algorithm)| Rule::named(format!("{stem}-{name}"), algorithm);
            let loose = algorithms(LIMIT).map(named).into_iter();
            let last = (*stem != "alone").then(|| {
                let window = Algorithm::FixedWindow { limit: TIGHT, window: HOUR };
                Rule::named(Arc::from(format!("{stem}-tight")), window)
            });
            loose.chain(last)
        });
        all.collect()
    });
    &RULES
}

/// Whether the calls that a rule gets are enough to use it up: not where another one refuses first.
pub(crate) fn is_contested(rule: usize) -> bool {
    rule < ALGORITHMS || rules()[rule].algorithm().unwrap().limit() == TIGHT
}

fn algorithms(limit: u64) -> [(&'static str, Algorithm); ALGORITHMS] {
    let slow = Rate::new(limit, HOUR);
    [
        ("token-bucket", Algorithm::TokenBucket { capacity: limit, refill: slow }),
        ("leaky-bucket", Algorithm::LeakyBucket { capacity: limit, leak: slow }),
        ("fixed-window", Algorithm::FixedWindow { limit, window: HOUR }),
        ("sliding-log", Algorithm::SlidingLog { limit, window: HOUR }),
        ("sliding-counter", Algorithm::SlidingCounter { limit, window: HOUR, sub_windows: 10 }),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rule_is_called_and_is_what_its_name_says() {
        let targets = (0..Target::COUNT).map(Target::new);
        let called: HashSet<usize> = targets.flat_map(Target::rules).copied().collect();
        assert_eq!(called.len(), rules().len());
        for target in (0..Target::COUNT).map(Target::new) {
            let stems: HashSet<&str> = target
                .rules()
                .iter()
                .map(|rule| rules()[*rule].name().split('-').next().unwrap())
                .collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_eq!(rules()[10].name(), "grouped-tight");
        assert_eq!(rules()[16].name(), "apart-tight");
    }
}
