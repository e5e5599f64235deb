//! Which entry of the embedded store a check belongs to.

use std::hash::{BuildHasher, Hasher, RandomState};

use once_cell::sync::Lazy;
use siphasher::sip128::{Hash128, Hasher128, SipHasher13};

/// 128 bits that stand for a rule with its algorithm. They are random to everybody outside the
/// process, and key the hash of the rule's keys.
#[derive(Clone, Copy)]
pub(crate) struct Seed {
    keys: (u64, u64),
    /// The id of the budget that the rule's keys share when they have no place.
    overflow: Id,
}

/// 32 bits that stand for a rule with its algorithm: a part of the ids of its keys, so that a store
/// knows whose an entry is and no entry is larger for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RuleTag(u32);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Who knows it can make keys that collide, and rules are shown in logs.
        f.write_str("Seed(..)")
    }
}

impl Seed {
    /// The seed of a rule.
    #[cfg(test)]
    pub(crate) fn new(rule: &str, kind: u8) -> Self {
        Self::of(rule, None, kind)
    }

    /// The seed of a rule, which may have a service of its own.
    pub(crate) fn of(rule: &str, service: Option<&str>, kind: u8) -> Self {
        // The standard library seeds every `RandomState` from the operating system.
        static PROCESS: Lazy<SipHasher13> = Lazy::new(|| {
            let random = RandomState::new();
            SipHasher13::new_with_keys(random.hash_one(0), random.hash_one(1))
        });
        let mut hasher = *PROCESS;
        hasher.write(rule.as_bytes());
        if let Some(service) = service {
            // No name has this byte: names are UTF-8.
            hasher.write_u8(0xFF);
            hasher.write(service.as_bytes());
        }
        hasher.write_u8(kind);
        let Hash128 { h1, h2 } = hasher.finish128();
        // No key has this byte: keys are UTF-8.
        let overflow = Id { words: halves(SipHasher13::new_with_keys(h1, h2).hash(&[0xFF])) };
        Self { keys: (h1, h2), overflow }
    }

    /// The rule alone.
    #[cfg(test)]
    pub(crate) fn rule(self) -> RuleTag {
        self.overflow.rule()
    }
}

/// 128 bits that stand for a key within a rule, 32 of them for the rule. Nobody outside the process
/// can choose keys that collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    /// Words of 32 bits, so that an entry needs no padding.
    words: [u32; 4],
}

impl Id {
    /// The id of a key.
    pub(crate) fn of_key(seed: Seed, key: &str) -> Self {
        let (k1, k2) = seed.keys;
        let [a, _, c, d] = halves(SipHasher13::new_with_keys(k1, k2).hash(key.as_bytes()));
        Self { words: [a, seed.overflow.rule().0, c, d] }
    }

    /// The id of the budget that a rule's keys share when the store is full.
    pub(crate) fn of_overflow(seed: Seed) -> Self {
        seed.overflow
    }

    /// Whose key it is.
    pub(crate) fn rule(self) -> RuleTag {
        let [_, rule, ..] = self.words;
        RuleTag(rule)
    }

    /// Bits for the choice of the shard; [`Id::hash`] does not share them.
    pub(crate) fn shard(self) -> usize {
        let [shard, ..] = self.words;
        shard as usize
    }

    /// Bits for the place in a table.
    pub(crate) fn hash(self) -> u64 {
        let [_, _, high, low] = self.words;
        u64::from(high) << 32 | u64::from(low)
    }
}

fn halves(Hash128 { h1, h2 }: Hash128) -> [u32; 4] {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
    let halves = |word: u64| [(word >> 32) as u32, word as u32];
    let ([a, b], [c, d]) = (halves(h1), halves(h2));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Id, Seed};

    /// Who finds keys that collide in one rule has found none for another, and none for another process.
    #[test]
    fn rules_have_seeds_of_their_own() {
        let of = |rule: &str, kind| Id::of_key(Seed::new(rule, kind), "key");
        assert_eq!(of("a", 1), of("a", 1));
        assert_ne!(of("a", 1), of("b", 1));
        assert_ne!(of("a", 1), of("a", 2));
    }

    /// Keys of one shard are spread over its table.
    #[test]
    fn shards_and_places_are_chosen_by_other_bits() {
        let seed = Seed::new("rule", 1);
        let ids = (0..16_384).map(|n: u32| Id::of_key(seed, &n.to_string()));
        let places: HashSet<u64> =
            ids.filter(|id| id.shard() % 16 == 0).map(|id| id.hash() >> 57).collect();
        assert!(places.len() > 110, "{}", places.len());
    }

    #[test]
    fn a_seed_is_not_shown() {
        assert_eq!(format!("{:?}", Seed::new("rule", 1)), "Seed(..)");
    }
}
