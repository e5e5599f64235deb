//! How many places each rule holds, so that the keys of one do not take those of all others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::identity::RuleTag;

/// A rule may take another place while it holds less than this many times what is free, and more
/// than the floor is free. So alone it fills three quarters of the store; two that want all of it
/// get three sevenths each.
const TIMES_FREE: usize = 3;

/// The floor is one in so many places: the last ones, of which each rule may take its part.
const FLOOR: usize = 8;

/// Each of so many rules has the same part; together they have half of the floor.
const FIRST_RULES: usize = 16;

/// One in so many places is the part of a rule, divided by the number of rules, when there are more
/// of them. The sum of 1/17 to 1/1,024 is less than 4.5, so all of them have half of the floor.
const LATER_RULES: usize = 72;

/// Rules that hold places and are counted one by one; those beyond are counted together. Names can
/// be made at run time.
const MAX_RULES: usize = 1_024;

/// The places of a store, by rule. Locked by those who add or remove a key, and by nobody else.
#[derive(Debug)]
pub(super) struct Shares {
    max_keys: usize,
    held: Mutex<Held>,
    /// All of them, for readers that need not wait.
    len: AtomicUsize,
}

#[derive(Debug, Default)]
struct Held {
    by_rule: HashMap<RuleTag, usize>,
    /// By rules that are not in there.
    others: usize,
    all: usize,
}

impl Shares {
    pub(super) fn new(max_keys: usize) -> Self {
        Self { max_keys, held: Mutex::default(), len: AtomicUsize::new(0) }
    }

    pub(super) fn max_keys(&self) -> usize {
        self.max_keys
    }

    /// The places that are taken.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// The places that a rule has taken.
    pub(super) fn held_by(&self, rule: RuleTag) -> usize {
        let held = self.held.lock();
        held.by_rule.get(&rule).copied().unwrap_or(held.others)
    }

    /// Takes a place for a new key of a rule, if there is one for this rule.
    pub(super) fn take(&self, rule: RuleTag) -> bool {
        let floor = self.max_keys / FLOOR;
        self.take_if(rule, |held, free, rules| {
            (free > floor && held < free.saturating_mul(TIMES_FREE)) || held < self.part(rules)
        })
    }

    /// The places that each rule can have whatever the others do, when so many hold any.
    ///
    /// Of those that took places below the floor and hold them, the first did so among one rule at
    /// least, the second among two, and so on: together they have at most `part(1) + part(2) + ..`,
    /// which is less than the floor. So nothing has to be kept for this.
    fn part(&self, rules: usize) -> usize {
        let part = if rules <= FIRST_RULES {
            self.max_keys / (2 * FLOOR * FIRST_RULES)
        } else {
            self.max_keys / LATER_RULES / rules
        };
        part.max(1)
    }

    /// Takes a place for a new key, if there is any.
    pub(super) fn take_any(&self, rule: RuleTag) -> bool {
        self.take_if(rule, |_, _, _| true)
    }

    fn take_if(&self, rule: RuleTag, may: impl FnOnce(usize, usize, usize) -> bool) -> bool {
        let mut held = self.held.lock();
        let free = self.max_keys.saturating_sub(held.all);
        let Held { by_rule, others, all } = &mut *held;
        let has_room = by_rule.len() < MAX_RULES;
        // Most calls that come here in a full store go no further than this.
        let (now, is_counted) = match by_rule.get(&rule) {
            Some(held) => (*held, true),
            None if has_room => (0, true),
            None => (*others, false),
        };
        let rules = by_rule.len() + usize::from(now == 0 || !is_counted);
        if free == 0 || !may(now, free, rules) {
            return false;
        }
        if is_counted {
            by_rule.insert(rule, now + 1);
        } else {
            *others += 1;
        }
        *all += 1;
        self.len.store(*all, Ordering::Relaxed);
        true
    }

    /// Frees the places of keys of these rules, one for each time that a rule is named.
    pub(super) fn free(&self, rules: &[RuleTag]) {
        if rules.is_empty() {
            return;
        }
        let mut held = self.held.lock();
        let Held { by_rule, others, all } = &mut *held;
        for rule in rules {
            // A rule that was counted among the others may have got a count of its own since: one
            // of the two goes down, and in the end both are what they were.
            match by_rule.get_mut(rule) {
                Some(1) => {
                    by_rule.remove(rule);
                }
                Some(held) => *held -= 1,
                None => *others = others.saturating_sub(1),
            }
        }
        if by_rule.capacity() > 4 * by_rule.len() + 16 {
            by_rule.shrink_to_fit();
        }
        *all = all.saturating_sub(rules.len());
        self.len.store(*all, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Seed;

    fn rule(name: &str) -> RuleTag {
        Seed::new(name, 1).rule()
    }

    fn fill(shares: &Shares, rule: RuleTag) -> usize {
        std::iter::repeat_with(|| shares.take(rule)).take_while(|taken| *taken).count()
    }

    #[test]
    fn one_rule_leaves_a_quarter_and_the_next_an_eighth() {
        let shares = Shares::new(100_000);
        assert_eq!(fill(&shares, rule("one")), 75_000);
        assert_eq!(fill(&shares, rule("two")), 12_500);
        assert_eq!(fill(&shares, rule("three")), 390);
        // What becomes free goes to who holds least.
        shares.free(&vec![rule("one"); 2_000]);
        assert_eq!(fill(&shares, rule("one")), 0);
        assert_eq!(fill(&shares, rule("three")), 1_610);
        assert_eq!(shares.held_by(rule("one")), 73_000);
    }

    #[test]
    fn a_rule_has_its_part_whatever_the_others_do() {
        for rules in [8, 10, 15, 100, 1_023] {
            let shares = Shares::new(100_000);
            for i in 0..rules {
                fill(&shares, rule(&i.to_string()));
            }
            let part = if rules < 16 { 390 } else { 100_000 / 72 / (rules + 1) };
            assert_eq!(fill(&shares, rule("login")), part, "after {rules}");
        }
    }

    /// Rules come, fill what they may, give some back and leave, in any order.
    #[test]
    fn a_rule_has_its_part_however_the_others_come_and_go() {
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let shares = Shares::new(20_000);
            for _ in 0..300 {
                let one = rule(&random.u32(0..40).to_string());
                let held = shares.held.lock().by_rule.get(&one).copied().unwrap_or(0);
                match random.u8(0..4) {
                    0 => shares.free(&vec![one; random.usize(0..=held)]),
                    1 => _ = (0..random.usize(0..500)).filter(|_| shares.take(one)).count(),
                    _ => _ = fill(&shares, one),
                }
                let rules = shares.held.lock().by_rule.len() + 1;
                let login = fill(&shares, rule("login"));
                assert!(login >= shares.part(rules), "{login} among {rules}, seed {seed}");
                shares.free(&vec![rule("login"); login]);
                assert!(shares.len() <= 20_000);
            }
        }
    }

    #[test]
    fn two_greedy_rules_get_the_same() {
        let shares = Shares::new(70_000);
        let rules = [rule("one"), rule("two")];
        while rules.iter().filter(|rule| shares.take(**rule)).count() > 0 {}
        for rule in rules {
            assert!(shares.held_by(rule).abs_diff(30_000) <= 1, "{}", shares.held_by(rule));
        }
    }

    #[test]
    fn a_small_store_can_be_filled() {
        for (max_keys, one) in [(1, 1), (2, 2), (3, 3), (4, 3), (8, 6)] {
            let shares = Shares::new(max_keys);
            assert_eq!(fill(&shares, rule("one")), one, "of {max_keys}");
            while shares.take_any(rule("one")) {}
            assert_eq!(shares.len(), max_keys);
        }
    }

    #[test]
    fn names_without_end_are_counted_together() {
        let shares = Shares::new(10_000);
        let rules: Vec<RuleTag> = (0..20_000).map(|i| rule(&i.to_string())).collect();
        let taken: Vec<RuleTag> = rules.into_iter().filter(|rule| shares.take(*rule)).collect();
        assert_eq!(shares.held.lock().by_rule.len(), MAX_RULES);
        // The others hold three quarters of what the first left.
        assert_eq!(taken.len(), MAX_RULES + (10_000 - MAX_RULES) * 3 / 4);
        // Those of the second half leave first, and new ones come while they do.
        let (first, second) = taken.split_at(taken.len() / 2);
        shares.free(second);
        assert!(shares.take(rule("new")));
        shares.free(first);
        shares.free(&[rule("new")]);
        let held = shares.held.lock();
        assert_eq!((held.by_rule.len(), held.others, held.all, shares.len()), (0, 0, 0, 0));
    }
}
