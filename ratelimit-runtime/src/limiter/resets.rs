//! Which keys were reset while callers waited.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rule::Check;

/// Keys share so many slots. Who shares one with a key that was reset is not refunded.
const SLOTS: usize = 1_024;

/// When keys were reset by this limiter, counted in resets. Who leaves after a reset of the key that
/// was charged is not refunded: that would take the charges of others, made since.
#[derive(Debug, Default)]
pub(super) struct Resets {
    count: AtomicU64,
    /// By hash of rule and key, the number of the latest reset.
    latest: OnceLock<Box<[AtomicU64]>>,
    hasher: RandomState,
}

impl Resets {
    /// How many there were, to be asked before a charge.
    pub(super) fn mark(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Notes a reset.
    pub(super) fn note(&self, check: &Check<'_>) {
        let number = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let latest = self.latest.get_or_init(|| (0..SLOTS).map(|_| AtomicU64::new(0)).collect());
        if let Some(latest) = latest.get(self.slot(check)) {
            latest.fetch_max(number, Ordering::SeqCst);
        }
    }

    /// Whether the key of a check may have been reset since a mark.
    pub(super) fn since(&self, mark: u64, check: &Check<'_>) -> bool {
        let latest = self.latest.get().and_then(|latest| latest.get(self.slot(check)));
        latest.is_some_and(|latest| latest.load(Ordering::SeqCst) > mark)
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the number of slots")]
    fn slot(&self, check: &Check<'_>) -> usize {
        let hash = self.hasher.hash_one((check.rule().name(), check.key().as_str()));
        (hash % SLOTS as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Resets;
    use crate::rule::{Algorithm, Check, Rate, Rule};

    #[test]
    fn a_reset_is_seen_by_whoever_was_charged_before_it() {
        let rule =
            Rule::new("r", Algorithm::LeakyBucket { capacity: 1, leak: Rate::per_second(1) });
        let (resets, check) = (Resets::default(), Check::new(&rule, "a"));
        let before = resets.mark();
        assert!(!resets.since(before, &check));
        resets.note(&check);
        assert!(resets.since(before, &check));
        assert!(!resets.since(resets.mark(), &check));
        let others = (0..100).filter(|i| resets.since(before, &Check::new(&rule, i.to_string())));
        assert!(others.count() < 10);
    }
}
