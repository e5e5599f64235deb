//! Which keys have refused a call the last time that they were asked.
//!
//! A hint and no more: it says what to ask first, never what the answer is.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many keys are remembered: 32 KiB.
const PLACES: usize = 4_096;

/// Keys that refused last, by a hash. One takes the place of another when their hashes meet.
pub(super) struct Refusers {
    hasher: RandomState,
    places: Box<[AtomicU64]>,
}

/// A key, as it is remembered. Never 0, which is an empty place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Refusers {
    pub(super) fn new() -> Self {
        let places = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Self { hasher: RandomState::new(), places }
    }

    pub(super) fn mark(&self, key: &str) -> Mark {
        Mark(self.hasher.hash_one(key) | 1)
    }

    pub(super) fn contains(&self, mark: Mark) -> bool {
        self.place(mark).is_some_and(|place| place.load(Ordering::Relaxed) == mark.0)
    }

    /// What a key has said: whether it refused.
    pub(super) fn note(&self, mark: Mark, refused: bool) {
        let Some(place) = self.place(mark) else { return };
        let known = place.load(Ordering::Relaxed);
        // Mostly there is nothing to change, and then nothing shared is written.
        if refused && known != mark.0 {
            place.store(mark.0, Ordering::Relaxed);
        } else if !refused && known == mark.0 {
            place.store(0, Ordering::Relaxed);
        }
    }

    fn place(&self, mark: Mark) -> Option<&AtomicU64> {
        // Not the lowest bit, which all of them have.
        let place = usize::try_from(mark.0 >> 32).unwrap_or(0) % PLACES;
        self.places.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::Refusers;

    #[test]
    fn a_key_is_known_from_a_refusal_to_the_next_admission() {
        let refusers = Refusers::new();
        let (one, other) = (refusers.mark("one"), refusers.mark("other"));
        assert!(!refusers.contains(one));
        refusers.note(one, true);
        refusers.note(other, false);
        assert!(refusers.contains(one) && !refusers.contains(other));
        refusers.note(one, false);
        assert!(!refusers.contains(one));
    }

    #[test]
    fn any_number_of_keys_takes_the_same_room() {
        let refusers = Refusers::new();
        let marks: Vec<_> = (0..20_000).map(|n| refusers.mark(&n.to_string())).collect();
        for mark in &marks {
            refusers.note(*mark, true);
        }
        let known = marks.iter().filter(|mark| refusers.contains(**mark)).count();
        assert!((1..=super::PLACES).contains(&known), "{known}");
    }
}
