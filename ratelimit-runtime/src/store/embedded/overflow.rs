//! The budgets that all new keys of a rule share when the rule has no place for them, and what is
//! logged of that.

use std::collections::HashMap;

use arrayvec::ArrayVec;

use super::keys::{Keys, Room};
use super::shard::{Expiry, Kept, Seconds, Shard};
use crate::algo::{Answer, Timestamp, Verdict};
use crate::identity::{Id, RuleTag};

/// The most budgets at a time. Names can be made at run time, and a budget may live for as long as a
/// window does.
const MAX_BUDGETS: usize = 1_024;

const NS_PER_MS: i64 = 1_000_000;

/// A rule is logged once in this time, in nanoseconds.
const SPACING: u64 = 60_000_000_000;

/// The most rules that are logged in that time.
const MAX_LINES: usize = 16;

/// The overflow budgets of a store.
#[derive(Debug)]
pub(super) struct Overflow {
    budgets: Shard,
    /// Which keys were charged in the budget of a rule.
    charged: HashMap<RuleTag, Keys>,
    room: Room,
    lines: ArrayVec<Line, MAX_LINES>,
}

/// What was logged of a rule.
#[derive(Debug)]
struct Line {
    rule: RuleTag,
    at: Timestamp,
    /// Overflows since.
    since: u64,
}

impl Overflow {
    /// Of a store for so many keys.
    pub(super) fn new(max_keys: usize) -> Self {
        Self {
            budgets: Shard::default(),
            charged: HashMap::new(),
            room: Room::of(max_keys),
            lines: ArrayVec::new(),
        }
    }

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
            if let Some(mut keys) = self.charged.remove(&rule) {
                keys.clear(&mut self.room);
            }
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
        now: Timestamp,
        hit: impl Fn(&mut Option<A::State>) -> (Answer, Expiry),
    ) -> Answer {
        let both = |state: &mut Option<A::State>| {
            let before = used_until(algorithm, state.as_ref(), now);
            let (answer, expiry) = hit(state);
            ((answer, before, matches!(expiry, Expiry::Set(_))), expiry)
        };
        let known = A::visit(&mut self.budgets, budget, both);
        let (answer, before, is_charged) = known.unwrap_or_else(|| {
            let mut state = None;
            let (judged, expiry) = both(&mut state);
            if let Some(state) = state {
                A::insert(&mut self.budgets, budget, state, expiry.at());
            }
            judged
        });
        if is_charged {
            self.note(key, budget, (before, &answer), now);
        }
        answer
    }

    /// A key was charged in a budget that was used until `before`, and this is the answer.
    pub(super) fn note(
        &mut self,
        key: Id,
        budget: Id,
        (before, answer): (Timestamp, &Answer),
        now: Timestamp,
    ) {
        let keys = self.charged.entry(budget.rule()).or_default();
        // A millisecond more than the answer says: it is a whole number of them from another instant.
        let after = until(answer, now).saturating_add(NS_PER_MS);
        keys.add(key, (before, after), now, &mut self.room);
    }

    /// At most what a key has used of a budget: all that is used of it, if the key may have been
    /// charged there.
    pub(super) fn used_by<A: Kept>(
        &mut self,
        algorithm: &A,
        key: Id,
        budget: Id,
        now: Timestamp,
    ) -> Option<A::State> {
        let keys = self.charged.get(&budget.rule())?;
        let copy = |state: &mut Option<A::State>| {
            let used = used_until(algorithm, state.as_ref(), now);
            let copy = state.as_ref().filter(|_| keys.may_contain(key, used, now)).map(A::copy);
            (copy, Expiry::NotBefore(0))
        };
        A::visit(&mut self.budgets, budget, copy).flatten()
    }

    /// A rule has no place for a new key: how many it had none for since the last line, if another
    /// is due.
    pub(super) fn count(&mut self, rule: RuleTag, now: Timestamp) -> Option<u64> {
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

/// When all is back that is used of a budget.
pub(super) fn used_until<A: Kept>(
    algorithm: &A,
    state: Option<&A::State>,
    now: Timestamp,
) -> Timestamp {
    let look = Verdict { cost: 0, admitted: true, charged: false };
    until(&algorithm.answer(state, now, look), now)
}

fn until(answer: &Answer, now: Timestamp) -> Timestamp {
    let ns = i64::try_from(answer.reset_after_ms).unwrap_or(i64::MAX).saturating_mul(NS_PER_MS);
    now.saturating_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Seed;

    #[test]
    fn a_rule_is_logged_once_a_minute_and_not_all_of_them_are() {
        const MINUTE: i64 = 60_000_000_000;
        let rule = |i: usize| Seed::new(&i.to_string(), 1).rule();
        let mut overflow = Overflow::new(1);
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
