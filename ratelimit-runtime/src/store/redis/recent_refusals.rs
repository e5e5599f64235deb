//! Which keys refused the latest call about them.
//!
//! A hint and no more: it says which slot to ask first, never what the answer is.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many keys are remembered: 32 KiB.
const ENTRIES: usize = 4_096;

/// Hashes of keys that refused. A key overwrites another one whose hash has the same entry.
pub(super) struct RecentRefusals {
    hasher: RandomState,
    entries: Box<[AtomicU64]>,
}

/// The hash of a key. Never 0, which is an empty entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyHash(u64);

impl RecentRefusals {
    pub(super) fn new() -> Self {
        let entries = (0..ENTRIES).map(|_| AtomicU64::new(0)).collect();
        Self { hasher: RandomState::new(), entries }
    }

    pub(super) fn hash(&self, key: &str) -> KeyHash {
        KeyHash(self.hasher.hash_one(key) | 1)
    }

    pub(super) fn contains(&self, key: KeyHash) -> bool {
        self.entry(key).is_some_and(|entry| entry.load(Ordering::Relaxed) == key.0)
    }

    /// Remembers whether a key has refused.
    pub(super) fn note(&self, key: KeyHash, refused: bool) {
        let Some(entry) = self.entry(key) else { return };
        let known = entry.load(Ordering::Relaxed);
        // Mostly there is nothing to change, and then nothing shared is written.
        if refused && known != key.0 {
            entry.store(key.0, Ordering::Relaxed);
        } else if !refused && known == key.0 {
            entry.store(0, Ordering::Relaxed);
        }
    }

    fn entry(&self, key: KeyHash) -> Option<&AtomicU64> {
        // Not the lowest bit, which all of them have.
        let index = usize::try_from(key.0 >> 32).unwrap_or(0) % ENTRIES;
        self.entries.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::RecentRefusals;

    #[test]
    fn a_key_is_remembered_from_a_refusal_to_the_next_admission() {
        let refusals = RecentRefusals::new();
        let (one, other) = (refusals.hash("one"), refusals.hash("other"));
        assert!(!refusals.contains(one));
        refusals.note(one, true);
        refusals.note(other, false);
        assert!(refusals.contains(one) && !refusals.contains(other));
        refusals.note(one, false);
        assert!(!refusals.contains(one));
    }

    #[test]
    fn any_number_of_keys_takes_the_same_memory() {
        let refusals = RecentRefusals::new();
        let keys: Vec<_> = (0..20_000).map(|n| refusals.hash(&n.to_string())).collect();
        for key in &keys {
            refusals.note(*key, true);
        }
        let known = keys.iter().filter(|key| refusals.contains(**key)).count();
        assert!((1..=super::ENTRIES).contains(&known), "{known}");
    }
}
