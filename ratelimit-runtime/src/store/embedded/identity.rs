//! Which entry a check belongs to.

use std::hash::{BuildHasher, Hasher, RandomState};

use siphasher::sip128::{Hasher128, SipHasher13};

/// 128 bits that stand for a rule, its algorithm and a key. Nobody outside the process can choose
/// keys that collide: the hash is keyed with random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id {
    /// Words of 32 bits, so that an entry needs no padding.
    words: [u32; 4],
}

impl Id {
    /// Bits for the choice of the shard; [`Id::hash`] does not share them.
    pub(super) fn shard(self) -> usize {
        let [shard, ..] = self.words;
        shard as usize
    }

    /// Bits for the place in a table.
    pub(super) fn hash(self) -> u64 {
        let [_, _, high, low] = self.words;
        u64::from(high) << 32 | u64::from(low)
    }
}

/// The process' own hash function.
#[derive(Clone, Debug)]
pub(super) struct Identities {
    hasher: SipHasher13,
}

impl Identities {
    pub(super) fn new() -> Self {
        // The standard library seeds every `RandomState` from the operating system.
        let random = RandomState::new();
        let hasher = SipHasher13::new_with_keys(random.hash_one(0), random.hash_one(1));
        Self { hasher }
    }

    /// The id of a key or, without one, of a rule's overflow budget.
    pub(super) fn of(&self, rule: &str, kind: u8, key: Option<&str>) -> Id {
        let mut hasher = self.hasher;
        hasher.write(rule.as_bytes());
        // No UTF-8 text has this byte, so names and keys cannot run into each other.
        hasher.write(&[0xFF, kind, u8::from(key.is_some())]);
        hasher.write(key.unwrap_or_default().as_bytes());
        let hash = hasher.finish128();
        #[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
        let halves = |word: u64| [(word >> 32) as u32, word as u32];
        let ([a, b], [c, d]) = (halves(hash.h1), halves(hash.h2));
        Id { words: [a, b, c, d] }
    }
}
