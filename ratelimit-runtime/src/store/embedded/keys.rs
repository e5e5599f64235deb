//! Which keys were charged in an overflow budget: for as long as what they have used lasts, and in
//! little memory.

use crate::algo::Timestamp;
use crate::identity::Id;

/// The bits of a rule's first filter: 256 bytes.
const FIRST_BITS: usize = 2_048;

/// How much larger each further one is.
const GROWTH: usize = 4;

/// A filter with one bit in so many set takes no more keys, if there is room for a larger one.
const FULL: usize = 5;

/// The bits that stand for a key in a filter.
const BITS_PER_KEY: u32 = 4;

/// The memory that all filters of a store may take beyond the first ones of each rule.
#[derive(Debug)]
pub(super) struct Room {
    free: usize,
}

/// The room of a store that holds few keys.
const LEAST_ROOM: usize = 128 * 1_024;

impl Room {
    /// For a store of so many keys: 8 bytes for each.
    pub(super) fn of(max_keys: usize) -> Self {
        Self { free: max_keys.saturating_mul(8).max(LEAST_ROOM) }
    }

    /// Takes so many bytes, if four times as many are free: no rule takes all of them.
    fn take(&mut self, bytes: usize) -> bool {
        let is_there = bytes <= self.free / 4;
        if is_there {
            self.free -= bytes;
        }
        is_there
    }

    fn give(&mut self, bytes: usize) {
        self.free = self.free.saturating_add(bytes);
    }
}

/// The keys that were charged in one budget. None is missing before what it has used has come back;
/// some may be in it that were not charged: of keys that are new, below 1 in 500 for each filter that
/// is not full, of which a generation has 5 or 6 when it has tens of thousands of keys. Where there is
/// no room for another filter the last one goes on, and takes more and more for ones it has.
///
/// There are two generations. Keys go into the younger one; when all that the keys of the older have
/// used has come back, it goes and the younger one is the older. So a budget that is never unused
/// does not remember for ever who was charged there.
#[derive(Debug, Default)]
pub(super) struct Keys {
    older: Generation,
    younger: Generation,
}

#[derive(Debug)]
struct Generation {
    /// When all is back that its keys have used.
    until: Timestamp,
    /// Each larger than the one before.
    filters: Vec<Filter>,
}

impl Default for Generation {
    fn default() -> Self {
        Self { until: Timestamp::MIN, filters: Vec::new() }
    }
}

impl Keys {
    /// A key was charged, in a budget that was used `before` that, and is used `after` that, until
    /// these instants.
    pub(super) fn add(
        &mut self,
        key: Id,
        (before, after): (Timestamp, Timestamp),
        now: Timestamp,
        room: &mut Room,
    ) {
        if self.numbers_changed(before) {
            self.older.until = self.older.until.max(before);
            self.younger.until = self.younger.until.max(before);
        }
        if self.younger.until <= now {
            self.younger.clear(room);
        }
        if self.older.until <= now {
            self.older.clear(room);
            std::mem::swap(&mut self.older, &mut self.younger);
        }
        self.younger.until = self.younger.until.max(after);
        self.younger.add(key, room);
    }

    /// Whether a key may have been charged in the budget, which is used until `used`, and has not got
    /// back what it took there.
    pub(super) fn may_contain(&self, key: Id, used: Timestamp, now: Timestamp) -> bool {
        let changed = self.numbers_changed(used);
        [&self.older, &self.younger]
            .iter()
            .any(|generation| (changed || now < generation.until) && generation.may_contain(key))
    }

    /// Whether a budget is used for longer than any charge has made it: its rule is slower now, and
    /// what each key has used comes back later as well.
    fn numbers_changed(&self, used: Timestamp) -> bool {
        used > self.older.until.max(self.younger.until)
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self, room: &mut Room) {
        self.older.clear(room);
        self.younger.clear(room);
    }
}

impl Generation {
    fn add(&mut self, key: Id, room: &mut Room) {
        if self.may_contain(key) {
            return;
        }
        let bits = match self.filters.last() {
            None => Some(FIRST_BITS),
            Some(last) if last.is_full() => Some(last.bits() * GROWTH),
            Some(_) => None,
        };
        if let Some(bits) = bits
            && (bits == FIRST_BITS || room.take(bits / 8))
        {
            self.filters.push(Filter::new(bits));
        }
        if let Some(last) = self.filters.last_mut() {
            last.add(key);
        }
    }

    fn may_contain(&self, key: Id) -> bool {
        self.filters.iter().any(|filter| filter.may_contain(key))
    }

    fn clear(&mut self, room: &mut Room) {
        // The first one takes nothing of what is shared.
        room.give(self.filters.iter().skip(1).map(|filter| filter.bits() / 8).sum());
        *self = Self::default();
    }
}

/// A set of keys that may contain some that were not added.
#[derive(Debug)]
struct Filter {
    /// A power of two of them.
    words: Box<[u64]>,
    ones: usize,
}

impl Filter {
    fn new(bits: usize) -> Self {
        Self { words: vec![0; bits / 64].into_boxed_slice(), ones: 0 }
    }

    fn bits(&self) -> usize {
        self.words.len() * 64
    }

    fn is_full(&self) -> bool {
        self.ones >= self.bits() / FULL
    }

    fn add(&mut self, key: Id) {
        for (word, bit) in places(key, self.words.len()) {
            if let Some(word) = self.words.get_mut(word) {
                self.ones += usize::from(*word & bit == 0);
                *word |= bit;
            }
        }
    }

    fn may_contain(&self, key: Id) -> bool {
        places(key, self.words.len())
            .all(|(word, bit)| self.words.get(word).is_some_and(|word| word & bit != 0))
    }
}

/// The bits that stand for a key, among so many words. Ids are random bits, so it needs no hash.
fn places(key: Id, words: usize) -> impl Iterator<Item = (usize, u64)> {
    let random = key.hash();
    let (first, step) = (random >> 32, random | 1);
    (0..u64::from(BITS_PER_KEY)).map(move |i| {
        let bits = first.wrapping_add(step.wrapping_mul(i)) & 0xFFFF_FFFF;
        // There is a power of two of words.
        ((bits >> 6) as usize & (words - 1), 1 << (bits & 63))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Seed;

    fn keys(numbers: std::ops::Range<u32>) -> impl Iterator<Item = Id> {
        let seed = Seed::new("rule", 1);
        numbers.map(move |number| Id::of_key(seed, &number.to_string()))
    }

    /// How many of 10,000 keys that were not added are taken for ones that were.
    fn wrong(set: &Keys, now: Timestamp) -> usize {
        let others = 1_000_000..1_010_000;
        keys(others).filter(|key| set.may_contain(*key, now, now)).count()
    }

    fn bytes(set: &Keys) -> usize {
        let filters = set.older.filters.iter().chain(&set.younger.filters);
        filters.map(|filter| filter.bits() / 8).sum()
    }

    #[test]
    fn a_set_of_keys_lacks_none_and_adds_few() {
        for count in [100, 1_000, 3_000, 30_000] {
            let (mut set, mut room) = (Keys::default(), Room::of(100_000));
            keys(0..count).for_each(|key| set.add(key, (10, 10), 0, &mut room));
            assert!(keys(0..count).all(|key| set.may_contain(key, 10, 9)), "{count}");
            let wrong = wrong(&set, 9);
            assert!(wrong < 150, "{wrong} of 10,000 beside {count}");
            assert!(bytes(&set) < 256 + 12 * count as usize, "{} for {count}", bytes(&set));
        }
    }

    /// A budget in use without a pause, in which new keys are charged all the time.
    #[test]
    fn who_was_charged_long_ago_is_forgotten() {
        const RECOVERY: i64 = 1_000;
        let (mut set, mut room) = (Keys::default(), Room::of(1_000));
        for (now, key) in (0..).zip(keys(0..50_000)) {
            set.add(key, (now - 1 + RECOVERY, now + RECOVERY), now, &mut room);
            if now % 5_000 == 4_999 {
                let last = u32::try_from(now).unwrap();
                let used = now + RECOVERY;
                let mut recent = keys(last - 998..last + 1);
                assert!(recent.all(|key| set.may_contain(key, used, now)), "at {now}");
                assert!(bytes(&set) < 20_000, "{} at {now}", bytes(&set));
                let wrong = wrong(&set, now);
                assert!(wrong < 150, "{wrong} of 10,000 at {now}");
            }
        }
        set.clear(&mut room);
        assert_eq!((room.free, bytes(&set)), (LEAST_ROOM, 0));
    }

    #[test]
    fn a_rule_that_becomes_slower_remembers_for_longer() {
        let (mut set, mut room) = (Keys::default(), Room::of(1_000));
        let [a, b] = [0, 1].map(|i| keys(i..i + 1).next().unwrap());
        set.add(a, (0, 10), 0, &mut room);
        assert!(set.may_contain(a, 10, 9) && !set.may_contain(a, 10, 10));
        // What is used of the budget lasts until 100 all at once.
        assert!(set.may_contain(a, 100, 20) && !set.may_contain(b, 100, 20));
        set.add(b, (100, 110), 20, &mut room);
        assert!(set.may_contain(a, 110, 99) && set.may_contain(b, 110, 109));
    }

    /// Many rules, whose keys without end are charged: the memory is bounded, and the first ones do not
    /// take all of it.
    #[test]
    fn the_memory_of_all_is_bounded() {
        let mut room = Room::of(100_000);
        let mut sets: Vec<Keys> = (0..100).map(|_| Keys::default()).collect();
        for set in &mut sets {
            keys(0..20_000).for_each(|key| set.add(key, (10, 10), 0, &mut room));
        }
        let all: usize = sets.iter().map(bytes).sum();
        assert!(all <= 800_000 + 100 * 256, "{all}");
        assert!(sets.iter().all(|set| keys(0..20_000).all(|key| set.may_contain(key, 10, 9))));
        let filters = |set: usize| sets[set].younger.filters.len();
        assert_eq!([0, 10, 99].map(filters), [5, 4, 1]);
    }
}
