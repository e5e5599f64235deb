//! The entries of one shard. Its tests are those of the store: see `mod.rs`.

use std::collections::HashMap;
use std::mem;

use hashbrown::HashTable;

use crate::algo::{
    Arithmetic, CounterState, FixedWindow, LeakyBucket, LeakyState, LogState, SlidingCounter,
    SlidingLog, TokenBucket, TokenState, WindowState,
};
use crate::identity::{Id, RuleTag};

/// Seconds since the store was made, rounded up: when an entry may be forgotten.
pub(super) type Seconds = u32;

/// The most entries of a log that are copied.
const MAX_COPIED: usize = 64;

/// What the keys of a shard have used.
#[derive(Debug, Default)]
pub(super) struct Shard {
    /// Buckets and fixed windows.
    small: HashTable<Slot<Packed>>,
    /// The amounts of the buckets that need more than 64 bits.
    wide: HashMap<Id, u128>,
    counters: HashTable<Slot<CounterState>>,
    logs: HashTable<Slot<LogState>>,
    /// No entry is forgotten before.
    earliest: Seconds,
    /// How often all entries were looked at.
    #[cfg(test)]
    pub(super) sweeps: u32,
}

#[derive(Debug)]
struct Slot<S> {
    id: Id,
    expires: Seconds,
    state: S,
}

/// What to do with the time at which an entry is forgotten.
pub(super) enum Expiry {
    /// It was charged: that time is new.
    Set(Seconds),
    /// It was only read: the time may come later, if the rule's numbers have changed.
    NotBefore(Seconds),
}

impl Expiry {
    pub(super) fn at(&self) -> Seconds {
        match *self {
            Self::Set(at) | Self::NotBefore(at) => at,
        }
    }
}

impl<S> Slot<S> {
    fn postpone(&mut self, expiry: &Expiry) {
        self.expires = match *expiry {
            Expiry::Set(at) => at,
            Expiry::NotBefore(at) => self.expires.max(at),
        };
    }
}

impl Shard {
    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.small.len() + self.counters.len() + self.logs.len()
    }

    /// Forgets what has expired and gives memory back that is not used any more; returns whose
    /// entries went.
    pub(super) fn sweep(&mut self, now: Seconds) -> Vec<RuleTag> {
        let mut gone = Vec::new();
        if now < self.earliest {
            return gone;
        }
        #[cfg(test)]
        {
            self.sweeps += 1;
        }
        let mut earliest = Seconds::MAX;
        let Self { small, wide, counters, logs, .. } = self;
        small.retain(|slot| {
            let keep = keep(slot, now, &mut earliest, &mut gone);
            if !keep && slot.state.is_wide() {
                wide.remove(&slot.id);
            }
            keep
        });
        counters.retain(|slot| keep(slot, now, &mut earliest, &mut gone));
        logs.retain(|slot| keep(slot, now, &mut earliest, &mut gone));
        shrink(small);
        shrink(counters);
        shrink(logs);
        if wide.capacity() > 4 * wide.len() + 16 {
            wide.shrink_to_fit();
        }
        self.earliest = earliest;
        gone
    }

    fn insert<S>(
        table: impl FnOnce(&mut Self) -> &mut HashTable<Slot<S>>,
        shard: &mut Self,
        slot: Slot<S>,
    ) {
        shard.earliest = shard.earliest.min(slot.expires);
        table(shard).insert_unique(slot.id.hash(), slot, |slot| slot.id.hash());
    }
}

fn keep<S>(slot: &Slot<S>, now: Seconds, earliest: &mut Seconds, gone: &mut Vec<RuleTag>) -> bool {
    let keep = slot.expires > now;
    if keep {
        *earliest = slot.expires.min(*earliest);
    } else {
        gone.push(slot.id.rule());
    }
    keep
}

fn shrink<S>(table: &mut HashTable<Slot<S>>) {
    if table.capacity() > 4 * table.len() + 16 {
        table.shrink_to(2 * table.len(), |slot| slot.id.hash());
    }
}

fn find<S>(table: &mut HashTable<Slot<S>>, id: Id) -> Option<&mut Slot<S>> {
    table.find_mut(id.hash(), |slot| slot.id == id)
}

/// An algorithm whose states a shard keeps.
pub(super) trait Kept: Arithmetic {
    /// Runs `f` on what a key has used and keeps what it leaves there; `None` for a new key.
    fn visit<R>(
        shard: &mut Shard,
        id: Id,
        f: impl FnOnce(&mut Option<Self::State>) -> (R, Expiry),
    ) -> Option<R>;

    /// Adds a new key.
    fn insert(shard: &mut Shard, id: Id, state: Self::State, expires: Seconds);

    /// A state that has used as much, and takes little memory.
    fn copy(state: &Self::State) -> Self::State;
}

/// The state of a bucket or of a fixed window in 24 bytes that need no padding: with 100,000 keys,
/// 8 bytes more an entry would cost 10 more a key.
#[derive(Clone, Copy, Debug)]
struct Packed([[u32; 2]; 3]);

/// An amount that stands for the one in [`Shard::wide`].
const WIDE: u64 = u64::MAX;

impl Packed {
    fn new(words: [u64; 3]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
        Self(words.map(|word| [(word >> 32) as u32, word as u32]))
    }

    fn words(self) -> [u64; 3] {
        self.0.map(|[high, low]| u64::from(high) << 32 | u64::from(low))
    }

    fn is_wide(self) -> bool {
        let [_, amount, _] = self.words();
        amount == WIDE
    }
}

/// A state that is two words and an amount.
trait Small: Arithmetic<State: Copy> {
    fn pack(state: &Self::State) -> (u64, u128, u64);
    fn unpack(first: u64, amount: u128, last: u64) -> Self::State;
}

impl Small for TokenBucket {
    fn pack(state: &TokenState) -> (u64, u128, u64) {
        (state.last.cast_unsigned(), state.tokens, state.unit)
    }

    fn unpack(first: u64, tokens: u128, unit: u64) -> TokenState {
        TokenState { last: first.cast_signed(), tokens, unit }
    }
}

impl Small for LeakyBucket {
    fn pack(state: &LeakyState) -> (u64, u128, u64) {
        (state.last.cast_unsigned(), state.level, state.unit)
    }

    fn unpack(first: u64, level: u128, unit: u64) -> LeakyState {
        LeakyState { last: first.cast_signed(), level, unit }
    }
}

impl Small for FixedWindow {
    fn pack(state: &WindowState) -> (u64, u128, u64) {
        (state.last.cast_unsigned(), u128::from(state.count), state.start.cast_unsigned())
    }

    fn unpack(first: u64, count: u128, start: u64) -> WindowState {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        WindowState { start: start.cast_signed(), last: first.cast_signed(), count }
    }
}

/// Packs a state, with its amount beside it if that is wide. `was_wide`: there may be an old one.
fn pack<A: Small>(
    wide: &mut HashMap<Id, u128>,
    id: Id,
    state: &A::State,
    was_wide: bool,
) -> Packed {
    let (first, amount, last) = A::pack(state);
    let narrow = u64::try_from(amount).ok().filter(|amount| *amount != WIDE);
    match narrow {
        None => {
            wide.insert(id, amount);
        }
        Some(_) if was_wide => {
            wide.remove(&id);
        }
        Some(_) => {}
    }
    Packed::new([first, narrow.unwrap_or(WIDE), last])
}

impl<A: Small> Kept for A {
    fn visit<R>(
        shard: &mut Shard,
        id: Id,
        f: impl FnOnce(&mut Option<Self::State>) -> (R, Expiry),
    ) -> Option<R> {
        let Shard { small, wide, .. } = shard;
        let slot = find(small, id)?;
        let [first, amount, last] = slot.state.words();
        let is_wide = amount == WIDE;
        let amount = if is_wide {
            wide.get(&id).copied().unwrap_or(u128::from(WIDE))
        } else {
            u128::from(amount)
        };
        let mut state = Some(A::unpack(first, amount, last));
        let (result, expiry) = f(&mut state);
        if let Some(state) = state {
            slot.state = pack::<A>(wide, id, &state, is_wide);
        }
        slot.postpone(&expiry);
        Some(result)
    }

    fn insert(shard: &mut Shard, id: Id, state: Self::State, expires: Seconds) {
        let state = pack::<A>(&mut shard.wide, id, &state, false);
        Shard::insert(|shard| &mut shard.small, shard, Slot { id, expires, state });
    }

    fn copy(state: &Self::State) -> Self::State {
        *state
    }
}

/// [`Kept::visit`] for states that stay in their slot.
fn visit_large<S: Default, R>(
    table: &mut HashTable<Slot<S>>,
    id: Id,
    f: impl FnOnce(&mut Option<S>) -> (R, Expiry),
) -> Option<R> {
    let slot = find(table, id)?;
    let mut state = Some(mem::take(&mut slot.state));
    let (result, expiry) = f(&mut state);
    slot.state = state.unwrap_or_default();
    slot.postpone(&expiry);
    Some(result)
}

impl Kept for SlidingCounter {
    fn visit<R>(
        shard: &mut Shard,
        id: Id,
        f: impl FnOnce(&mut Option<CounterState>) -> (R, Expiry),
    ) -> Option<R> {
        visit_large(&mut shard.counters, id, f)
    }

    fn insert(shard: &mut Shard, id: Id, state: CounterState, expires: Seconds) {
        Shard::insert(|shard| &mut shard.counters, shard, Slot { id, expires, state });
    }

    fn copy(state: &CounterState) -> CounterState {
        state.clone()
    }
}

impl Kept for SlidingLog {
    fn visit<R>(
        shard: &mut Shard,
        id: Id,
        f: impl FnOnce(&mut Option<LogState>) -> (R, Expiry),
    ) -> Option<R> {
        visit_large(&mut shard.logs, id, f)
    }

    fn insert(shard: &mut Shard, id: Id, state: LogState, expires: Seconds) {
        Shard::insert(|shard| &mut shard.logs, shard, Slot { id, expires, state });
    }

    fn copy(state: &LogState) -> LogState {
        // A long log is one key's, and not to be multiplied by the keys that come after it.
        state.condensed(MAX_COPIED)
    }
}

impl Shard {
    /// Whether a key has an entry.
    pub(super) fn contains(&self, id: Id) -> bool {
        fn contains<S>(table: &HashTable<Slot<S>>, id: Id) -> bool {
            table.find(id.hash(), |slot| slot.id == id).is_some()
        }
        contains(&self.small, id) || contains(&self.counters, id) || contains(&self.logs, id)
    }

    /// Forgets one key; whether it was there.
    pub(super) fn remove(&mut self, id: Id) -> bool {
        fn remove<S>(table: &mut HashTable<Slot<S>>, id: Id) -> bool {
            table
                .find_entry(id.hash(), |slot| slot.id == id)
                .map(hashbrown::hash_table::OccupiedEntry::remove)
                .is_ok()
        }
        self.wide.remove(&id);
        remove(&mut self.small, id) || remove(&mut self.counters, id) || remove(&mut self.logs, id)
    }
}
