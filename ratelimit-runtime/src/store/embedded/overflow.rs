//! The budgets that all new keys of a rule share when the rule has no place for them, and what is
//! logged of that.

use std::collections::HashMap;

use arrayvec::ArrayVec;

use super::shard::{Expiry, Kept, Seconds, Shard};
use crate::algo::{Answer, Instant, Verdict};
use crate::identity::{Id, RuleTag};

/// The most budgets at a time. Names can be made at run time, and a budget may live for as long as a
/// window does.
const MAX_BUDGETS: usize = 1_024;

/// A rule is logged once in this time, in nanoseconds.
const SPACING: u64 = 60_000_000_000;

/// The most rules that are logged in that time.
const MAX_LINES: usize = 16;

/// The overflow budgets of a store.
#[derive(Debug, Default)]
pub(super) struct Overflow {
    budgets: Shard,
    /// Which keys were charged in the budget of a rule.
    charged: HashMap<RuleTag, Keys>,
    lines: ArrayVec<Line, MAX_LINES>,
}

/// What was logged of a rule.
#[derive(Debug)]
struct Line {
    rule: RuleTag,
    at: Instant,
    /// Overflows since.
    since: u64,
}

impl Overflow {
    /// Where the budgets are.
    pub(super) fn budgets(&mut self) -> &mut Shard {
        &mut self.budgets
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.budgets.len()
    }

    pub(super) fn contains(&self, budget: Id) -> bool {
        self.budgets.contains(budget)
    }

    /// Whether there is room for a new budget beside those that are promised.
    pub(super) fn has_room(&mut self, promised: usize, now: impl FnOnce() -> Seconds) -> bool {
        if self.len() + promised >= MAX_BUDGETS {
            self.sweep(now());
        }
        self.len() + promised < MAX_BUDGETS
    }

    /// Forgets the budgets that are fully replenished.
    pub(super) fn sweep(&mut self, now: Seconds) {
        for rule in self.budgets.sweep(now) {
            self.charged.remove(&rule);
        }
        if self.charged.capacity() > 4 * self.charged.len() + 16 {
            self.charged.shrink_to_fit();
        }
    }

    /// Decides a single check of a key in a budget.
    pub(super) fn hit<A: Kept>(
        &mut self,
        algorithm: &A,
        key: Id,
        budget: Id,
        now: Instant,
        hit: impl Fn(&mut Option<A::State>) -> (Answer, Expiry),
    ) -> Answer {
        let both = |state: &mut Option<A::State>| {
            let was_unused = is_unused(algorithm, state.as_ref(), now);
            let (answer, expiry) = hit(state);
            ((answer, was_unused), expiry)
        };
        let known = A::visit(&mut self.budgets, budget, both);
        let (answer, was_unused, is_charged) = if let Some((answer, was_unused)) = known {
            // A look at it is noted as well, which does no harm.
            (answer, was_unused, answer.allowed)
        } else {
            let mut state = None;
            let (answer, expiry) = hit(&mut state);
            let is_charged = state.is_some();
            if let Some(state) = state {
                A::insert(&mut self.budgets, budget, state, expiry.at());
            }
            (answer, true, is_charged)
        };
        if is_charged {
            self.note(key, budget, was_unused);
        }
        answer
    }

    /// A key is about to be charged in a budget.
    pub(super) fn charged<A: Kept>(&mut self, algorithm: &A, key: Id, budget: Id, now: Instant) {
        let look = |state: &mut Option<A::State>| {
            (is_unused(algorithm, state.as_ref(), now), Expiry::NotBefore(0))
        };
        let was_unused = A::visit(&mut self.budgets, budget, look).unwrap_or(true);
        self.note(key, budget, was_unused);
    }

    fn note(&mut self, key: Id, budget: Id, was_unused: bool) {
        let keys = self.charged.entry(budget.rule()).or_default();
        if was_unused {
            *keys = Keys::default();
        }
        keys.add(key);
    }

    /// At most what a key has used of a budget: all that is used of it, if the key may have been
    /// charged there.
    pub(super) fn used_by<A: Kept>(&mut self, key: Id, budget: Id) -> Option<A::State> {
        if !self.charged.get(&budget.rule())?.may_contain(key) {
            return None;
        }
        let copy =
            |state: &mut Option<A::State>| (state.as_ref().map(A::copy), Expiry::NotBefore(0));
        A::visit(&mut self.budgets, budget, copy).flatten()
    }

    /// A rule has no place for a new key: how many it had none for since the last line, if another
    /// is due.
    pub(super) fn count(&mut self, rule: RuleTag, now: Instant) -> Option<u64> {
        let is_due = |line: &Line| now.abs_diff(line.at) >= SPACING;
        if let Some(line) = self.lines.iter_mut().find(|line| line.rule == rule) {
            line.since += 1;
            if !is_due(line) {
                return None;
            }
            let overflowed = line.since;
            *line = Line { rule, at: now, since: 0 };
            return Some(overflowed);
        }
        let line = Line { rule, at: now, since: 0 };
        if let Some(old) = self.lines.iter_mut().find(|line| is_due(line)) {
            *old = line;
        } else if self.lines.try_push(line).is_err() {
            return None;
        }
        Some(1)
    }
}

fn is_unused<A: Kept>(algorithm: &A, state: Option<&A::State>, now: Instant) -> bool {
    let look = Verdict { cost: 0, allowed: true, charged: false };
    algorithm.answer(state, now, look).reset_after_ms == 0
}

/// A set of keys in 256 bytes, however many: it may contain some that were not added (three in
/// 100 of 250, half of 1,000, nearly all of 3,000), and never lacks one that was. Ids are random bits, so it needs no hash.
#[derive(Debug, Default)]
struct Keys([u64; 32]);

impl Keys {
    fn add(&mut self, key: Id) {
        for (word, bit) in Self::bits(key) {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn may_contain(&self, key: Id) -> bool {
        Self::bits(key).iter().all(|(word, bit)| self.0.get(*word).is_some_and(|w| w & bit != 0))
    }

    /// Three of 2,048.
    fn bits(key: Id) -> [(usize, u64); 3] {
        let random = key.hash();
        [0, 11, 22].map(|shift| {
            let bits = random >> shift;
            let word = (bits & 31) as usize;
            (word, 1 << ((bits >> 5) & 63))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Seed;

    fn keys(numbers: std::ops::Range<u32>) -> impl Iterator<Item = Id> {
        let seed = Seed::new("rule", 1);
        numbers.map(move |number| Id::of_key(seed, &number.to_string()))
    }

    #[test]
    fn a_set_of_keys_lacks_none_and_adds_few() {
        let mut set = Keys::default();
        keys(0..250).for_each(|key| set.add(key));
        assert!(keys(0..250).all(|key| set.may_contain(key)));
        let wrong = keys(250..10_250).filter(|key| set.may_contain(*key)).count();
        assert!(wrong < 500, "{wrong} of 10,000");
    }

    #[test]
    fn a_rule_is_logged_once_a_minute_and_not_all_of_them_are() {
        const MINUTE: i64 = 60_000_000_000;
        let rule = |i: usize| Seed::new(&i.to_string(), 1).rule();
        let mut overflow = Overflow::default();
        assert_eq!(overflow.count(rule(0), 0), Some(1));
        for i in 1..1_000 {
            assert_eq!(overflow.count(rule(0), i * 1_000), None);
        }
        assert_eq!(overflow.count(rule(0), MINUTE), Some(1_000));
        let lines = (1..100).filter(|i| overflow.count(rule(*i), MINUTE).is_some()).count();
        assert_eq!(lines, MAX_LINES - 1);
        assert_eq!(overflow.count(rule(100), 2 * MINUTE), Some(1));
    }
}
