//! The store in this process.
//!
//! Tests: keys for which there is no place in `tests.rs` and `keys.rs`, full stores and eviction in
//! `tests/semantics/{churn,eviction}.rs`, the vectors in `tests/runner`, random calls in `ratelimit-runtime/tests`.
//!
//! One check and a list have the same steps (visit, reserve, overflow, insert, release) in two functions, for
//! speed: the file is long for that.

mod keys;
mod overflow;
mod shard;
mod shares;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use self::overflow::Overflow;
use self::shard::{Expiry, Kept, Seconds, Shard};
use self::shares::Shares;
use super::{Answers, BoxFuture, Charged, Charges, Store};
use crate::algo::{self, Answer, Charge, Refund, Resolution, Timestamp, Verdict};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::identity::{Id, RuleTag};
use crate::rule::{Check, Plan, with_algorithm};
use crate::telemetry;

const NS_PER_SECOND: i64 = 1_000_000_000;

/// In this time, calls sweep the whole store.
const SWEEP_NS: i64 = 2 * NS_PER_SECOND;

/// The most shards that one call sweeps.
const SWEEP_AT_ONCE: i64 = 8;

/// How much longer an entry is kept when the clock is a caller's, which may step back.
const GRACE_SECONDS: Seconds = 60;

/// Further back than any rule remembers.
const LONG_AGO_NS: i64 = 1_000 * algo::MAX_SPAN_US.cast_signed();

/// Entries per shard when the store is full.
const SHARD_ENTRIES: usize = 2_048;

/// The store in this process: exact, and bounded in memory.
///
/// An entry leaves when its key is as good as new; calls do the cleaning, a few entries at a time.
/// A key in use is never evicted, which would hand its quota out again. Instead a rule has no place
/// for a new key when [`max_keys`](Embedded::with_max_keys) are in use, or when it holds three times
/// as many places as are free, or more than its part of the last eighth when no more is free: the
/// keys of some rules, which strangers may invent, do not take the places of all others. New keys of such a rule share one overflow budget then, and a key that was
/// charged there begins with what is used of it when it gets a place.
///
/// There are at most 1,024 overflow budgets at a time. Beyond, new keys of further rules are
/// refused.
///
/// Limits hold for this process only.
pub struct Embedded {
    shards: Box<[Mutex<Shard>]>,
    /// Locked after shards.
    overflow: Mutex<Overflow>,
    /// How many overflow budgets there are, for those who need not lock them.
    budgets: AtomicUsize,
    clock: Clock,
    /// Counts the keys that it can hold as long as the store is there.
    _capacity: telemetry::Capacity,
    /// The entries in `shards`, and the places promised to checks under way.
    shares: Shares,
    overflowed: AtomicUsize,
    started_ns: i64,
    next_sweep_ns: AtomicI64,
    next_shard: AtomicUsize,
}

impl Default for Embedded {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("keys", &self.len())
            .field("max_keys", &self.shares.max_keys())
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Embedded {
    /// A store for up to 100,000 keys, on the monotonic clock of this process.
    pub fn new() -> Self {
        Self::build(100_000, Clock::Server)
    }

    /// The same store, empty, for another number of keys; at least 1.
    ///
    /// A bucket or a fixed window takes about 60 bytes a key, a sliding counter 100 or more, a
    /// sliding log 16 for every call in its window: up to its limit × 16 bytes × keys.
    #[must_use]
    pub fn with_max_keys(self, max_keys: usize) -> Self {
        Self::build(max_keys.max(1), self.clock.clone())
    }

    /// The same store, empty, on another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self::build(self.shares.max_keys(), clock)
    }

    fn build(max_keys: usize, clock: Clock) -> Self {
        let shards = (max_keys / SHARD_ENTRIES).next_power_of_two().clamp(1, 4_096);
        let now = clock.now_ns();
        Self {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            overflow: Mutex::new(Overflow::new(max_keys)),
            budgets: AtomicUsize::new(0),
            shares: Shares::new(max_keys),
            _capacity: telemetry::Capacity::new(max_keys),
            overflowed: AtomicUsize::new(0),
            started_ns: now,
            next_sweep_ns: AtomicI64::new(now),
            next_shard: AtomicUsize::new(0),
            clock,
        }
    }

    /// How many keys are held, with the places promised to checks under way; never more than the
    /// maximum.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether no key is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many calls of new keys found no place, and were decided in an overflow budget or refused.
    pub fn overflowed(&self) -> usize {
        self.overflowed.load(Ordering::Relaxed)
    }

    /// Forgets what has expired, if it is time to: for a store that no calls come to.
    pub(crate) fn tidy(&self) {
        self.sweep(self.clock.now_ns());
    }

    /// Decides, and notes of each check when it was charged.
    fn decide_list(
        &self,
        checks: &[Check<'_>],
        mut note: impl FnMut(Option<Timestamp>),
    ) -> Result<Answers, StoreError> {
        let now = self.clock.now_ns();
        self.sweep(now);
        match checks {
            [check] => {
                let plan = check.plan(Resolution::Nanos)?;
                let (answer, at) =
                    with_algorithm!(&plan, algorithm => self.decide_one(algorithm, check, now));
                note(at);
                Ok(Answers::from_buf([answer]))
            }
            checks => self.decide_all(checks, now, Purpose::Charge, note),
        }
    }

    /// What would be decided. Charges nothing.
    pub(crate) fn look(&self, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
        let now = self.clock.now_ns();
        self.sweep(now);
        self.decide_all(checks, now, Purpose::Look, |_| {})
    }

    /// What [`decide_all`](Self::decide_all) does, for one check: for speed.
    fn decide_one<A: Kept>(&self, algorithm: &A, check: &Check<'_>, now: Timestamp) -> Judged {
        let cost = check.cost();
        let hit = |state: &mut Option<A::State>| {
            let answer = algo::hit(algorithm, state, now, cost);
            let charged = answer.admitted && cost > 0;
            let at = state.as_ref().filter(|_| charged).map(A::charged_at);
            ((answer, at), self.expiry(now, answer, charged))
        };
        let seed = check.seed();
        let (id, budget) = (key_id(check), Id::of_overflow(seed));
        // There is a shard for every id.
        let mut locked = self.shard(id).map(Mutex::lock);
        if let Some(shard) = &mut locked {
            if let Some(judged) = A::visit(shard, id, hit) {
                return judged;
            }
            if self.reserve(shard, id, now) {
                let mut state = match self.budgets.load(Ordering::Relaxed) {
                    0 => None,
                    _ => self.overflow.lock().used_by(algorithm, id, budget, now),
                };
                let (judged, expiry) = hit(&mut state);
                // A refused call leaves nothing behind.
                match state.filter(|_| judged.1.is_some()) {
                    Some(state) => A::insert(shard, id, state, expiry.at()),
                    None => self.release(&[id.rule()]),
                }
                return judged;
            }
        }
        let mut overflow = self.overflow.lock();
        let has_room = overflow.contains(budget) || overflow.has_room(0, || self.seconds(now));
        // Not to be refunded: others use that budget too.
        let hit = |state: &mut Option<A::State>| {
            let ((answer, _), expiry) = hit(state);
            (answer, expiry)
        };
        let answer = if has_room {
            overflow.hit(algorithm, id, budget, now, hit)
        } else {
            hit(&mut used_up(algorithm, check.algorithm().limit(), now)).0
        };
        self.count_budgets(&overflow);
        let due = overflow.count(id.rule(), now);
        drop((overflow, locked));
        self.overflow_of(check, !has_room, due);
        (answer, None)
    }

    fn decide_all(
        &self,
        checks: &[Check<'_>],
        now: Timestamp,
        purpose: Purpose,
        mut note: impl FnMut(Option<Timestamp>),
    ) -> Result<Answers, StoreError> {
        let mut seats: SmallVec<[Seat; 4]> = SmallVec::new();
        for check in checks {
            let plan = check.plan(Resolution::Nanos)?;
            let id = key_id(check);
            let budget = Id::of_overflow(check.seed());
            let (limit, shard) = (check.algorithm().limit(), self.index(id));
            seats.push(Seat { plan, id, budget, limit, shard, place: Place::Entry });
        }
        let mut held = Held { store: self, shards: self.lock(&seats), overflow: None };
        held.seat(&mut seats, now);
        let mut admits: SmallVec<[bool; 4]> = SmallVec::new();
        for (i, (seat, check)) in seats.iter().zip(checks).enumerate() {
            // Keys of one rule may share one overflow budget, which has to have enough for all. And one key
            // may come twice, in two groups of a Cluster that does not answer.
            let earlier = seats.iter().zip(checks).take(i);
            let before: u64 = earlier
                .filter(|(other, _)| {
                    let share_overflow =
                        seat.overflows() && other.overflows() && other.budget == seat.budget;
                    other.id == seat.id || share_overflow
                })
                .fold(0, |sum, (_, check)| sum.saturating_add(check.cost()));
            let cost = match check.cost() {
                0 => 0,
                cost => cost.saturating_add(before),
            };
            admits.push(with_algorithm!(&seat.plan, algorithm => {
                held.admits(algorithm, seat, now, cost)
            }));
        }
        let all = purpose == Purpose::Charge
            && admits.iter().zip(checks).all(|(admits, check)| check.lets_pass(*admits));
        let answers = seats.iter().zip(checks).zip(admits).map(|((seat, check), admitted)| {
            let cost = check.cost();
            let verdict = Verdict::new(cost, admitted, all);
            let (answer, at) =
                with_algorithm!(&seat.plan, algorithm => held.settle(algorithm, seat, now, verdict));
            // What is taken from an overflow budget is not to be refunded: others use it too.
            note(at.filter(|_| !seat.overflows()));
            answer
        });
        let answers = answers.collect();
        match purpose {
            Purpose::Charge => held.end(&seats, checks, now),
            // It is no call.
            Purpose::Look => drop(held),
        }
        Ok(answers)
    }

    /// Locks the shards of a list in their order, so that two lists cannot wait for each other.
    fn lock(&self, seats: &[Seat]) -> SmallVec<[(usize, MutexGuard<'_, Shard>); 4]> {
        let mut indices: SmallVec<[usize; 4]> = seats.iter().map(|seat| seat.shard).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().filter_map(|i| Some((i, self.shards.get(i)?.lock()))).collect()
    }

    /// What a key has used of an overflow budget stays used there: others use that too. Instead the
    /// key gets an entry that says that it has used nothing, if there is any place for it. Whether the key
    /// may have used anything, and now has not.
    fn forget_overflow<A: Kept>(&self, algorithm: &A, check: &Check<'_>, now: Timestamp) -> bool {
        if self.budgets.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let (id, budget) = (key_id(check), Id::of_overflow(check.seed()));
        let Some(mut shard) = self.shard(id).map(Mutex::lock) else { return false };
        let used = self.overflow.lock().used_by(algorithm, id, budget, now);
        let forgets = used.is_some() && !shard.contains(id) && self.shares.take_any(id.rule());
        if forgets {
            telemetry::entry_added();
            let look = Verdict { cost: 0, admitted: true, charged: false };
            let expiry = self.expiry(now, algorithm.answer(used.as_ref(), now, look), false);
            let unused = algorithm.charge(None, now.saturating_sub(LONG_AGO_NS), 0);
            A::insert(&mut shard, id, unused, expiry.at());
        }
        forgets && !is_unused(algorithm, used.as_ref(), now)
    }

    /// Forgets the entry of a key; whether anything was used of it.
    fn forget_entry(&self, check: &Check<'_>, plan: Option<&Plan>, now: Timestamp) -> bool {
        let id = key_id(check);
        let Some(mut shard) = self.shard(id).map(Mutex::lock) else { return false };
        let was_used = match plan {
            Some(plan) => {
                with_algorithm!(plan, algorithm => is_used(algorithm, &mut shard, id, now))
            }
            // Nobody can say then.
            None => shard.contains(id),
        };
        if shard.remove(id) {
            self.release(&[id.rule()]);
        }
        was_used
    }

    /// Refunds one charge, if the key still has its entry.
    fn refund_one<A: Kept>(&self, algorithm: &A, id: Id, now: Timestamp, charge: Charge) {
        let Some(mut shard) = self.shard(id).map(Mutex::lock) else { return };
        let refund = A::visit(&mut shard, id, |state| {
            let refund = state.as_mut().map(|state| algorithm.refund(state, now, charge));
            (refund, Expiry::NotBefore(0))
        });
        if refund.flatten() == Some(Refund::Unused) && shard.remove(id) {
            self.release(&[id.rule()]);
        }
    }

    /// Counts and, when it is due, logs that a check found no place. No lock is held: what takes
    /// numbers and the log may call a limited function.
    fn overflow_of(&self, check: &Check<'_>, refused: bool, due: Option<u64>) {
        self.overflowed.fetch_add(1, Ordering::Relaxed);
        let rule = check.rule();
        telemetry::overflowed(rule.series(), refused);
        let Some(overflowed) = due else { return };
        tracing::warn!(
            rule = rule.name(),
            rule_keys = self.shares.held_by(key_id(check).rule()),
            keys = self.len(),
            max_keys = self.shares.max_keys(),
            overflowed,
            "a rate limit has no place for new keys in the embedded store: they share one budget"
        );
    }

    /// Counts the overflow budgets, whenever there may be more or fewer.
    fn count_budgets(&self, overflow: &Overflow) {
        let now = overflow.len();
        let before = self.budgets.swap(now, Ordering::Relaxed);
        telemetry::overflow_budgets(before, now);
    }

    fn index(&self, id: Id) -> usize {
        // There is a power of two of shards, and at least one.
        id.shard() & (self.shards.len() - 1)
    }

    fn shard(&self, id: Id) -> Option<&Mutex<Shard>> {
        self.shards.get(self.index(id))
    }

    /// Promises a place to a new key; `false` if its rule has none for it.
    fn reserve(&self, shard: &mut Shard, id: Id, now: Timestamp) -> bool {
        let reserve = || {
            let is_there = self.shares.take(id.rule());
            if is_there {
                telemetry::entry_added();
            }
            is_there
        };
        if reserve() {
            return true;
        }
        let gone = shard.sweep(self.seconds(now));
        self.release(&gone);
        (!gone.is_empty() || self.sweep_next(now)) && reserve()
    }

    fn release(&self, places: &[RuleTag]) {
        self.shares.free(places);
        telemetry::entries_gone(places.len());
    }

    /// Sweeps what is due, so that idle keys leave whatever keys the calls are for.
    fn sweep(&self, now: Timestamp) {
        let due = self.next_sweep_ns.load(Ordering::Relaxed);
        let behind = now.saturating_sub(due);
        // A due time far ahead is from a clock that was set back.
        if (-SWEEP_NS..0).contains(&behind) {
            return;
        }
        let step = SWEEP_NS / i64::try_from(self.shards.len()).unwrap_or(i64::MAX);
        let next = now.saturating_add(step);
        if self
            .next_sweep_ns
            .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            for _ in 0..=(behind / step).clamp(0, SWEEP_AT_ONCE - 1) {
                self.sweep_next(now);
            }
        }
    }

    /// Sweeps one shard; whether a key has gone.
    fn sweep_next(&self, now: Timestamp) -> bool {
        let next = self.next_shard.fetch_add(1, Ordering::Relaxed) & (self.shards.len() - 1);
        if next == 0
            && let Some(mut overflow) = self.overflow.try_lock()
        {
            overflow.sweep(self.seconds(now));
            self.count_budgets(&overflow);
        }
        // A shard that is busy has its turn in the next round.
        let Some(mut shard) = self.shards.get(next).and_then(Mutex::try_lock) else { return false };
        let gone = shard.sweep(self.seconds(now));
        self.release(&gone);
        !gone.is_empty()
    }

    fn seconds(&self, now: Timestamp) -> Seconds {
        let seconds = now.saturating_sub(self.started_ns) / NS_PER_SECOND;
        Seconds::try_from(seconds.max(0)).unwrap_or(Seconds::MAX - 1)
    }

    fn expiry(&self, now: Timestamp, answer: Answer, charged: bool) -> Expiry {
        let grace = match self.clock {
            Clock::Server => 0,
            Clock::Caller | Clock::Manual(_) => GRACE_SECONDS,
        };
        // One second for the part of it that has gone, one for the part that is left.
        let recovery = Seconds::try_from(answer.reset_after_ms / 1_000 + 2).unwrap_or(Seconds::MAX);
        let at = self.seconds(now).saturating_add(recovery).saturating_add(grace);
        if charged { Expiry::Set(at) } else { Expiry::NotBefore(at) }
    }
}

/// An answer, and when the check was charged, if it was.
type Judged = (Answer, Option<Timestamp>);

/// What a list is decided for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Charge,
    /// To say what would be decided.
    Look,
}

/// Where a check is decided.
#[derive(Debug)]
struct Seat {
    plan: Plan,
    id: Id,
    /// Its rule's overflow budget.
    budget: Id,
    limit: u64,
    shard: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The key has an entry.
    Entry,
    /// A place for one is promised to it.
    New,
    /// There is none, and the rule's overflow budget decides.
    Overflow,
    /// And there is no room for that one either.
    Nowhere,
}

impl Seat {
    fn overflows(&self) -> bool {
        self.place == Place::Overflow
    }
}

/// What a list has locked.
struct Held<'a> {
    store: &'a Embedded,
    shards: SmallVec<[(usize, MutexGuard<'a, Shard>); 4]>,
    /// While shards are held, as it is charged: a later call of the same key sees it.
    overflow: Option<MutexGuard<'a, Overflow>>,
}

impl Held<'_> {
    fn shard(&mut self, seat: &Seat) -> Option<&mut Shard> {
        let shard = self.shards.iter_mut().find(|(index, _)| *index == seat.shard);
        shard.map(|(_, shard)| &mut **shard)
    }

    /// Where the check of a seat has its state, or gets one.
    fn table(&mut self, seat: &Seat) -> Option<(&mut Shard, Id)> {
        match seat.place {
            Place::Entry | Place::New => Some((self.shard(seat)?, seat.id)),
            Place::Overflow => Some((self.overflow.as_mut()?.budgets(), seat.budget)),
            Place::Nowhere => None,
        }
    }

    /// Finds out where checks are decided.
    fn seat(&mut self, seats: &mut [Seat], now: Timestamp) {
        let store = self.store;
        for seat in &mut *seats {
            let Some(shard) = self.shard(seat) else { continue };
            seat.place = if shard.contains(seat.id) {
                Place::Entry
            } else if store.reserve(shard, seat.id, now) {
                Place::New
            } else {
                Place::Overflow
            };
        }
        let is_new = |seat: &Seat| seat.place == Place::New;
        let was_charged = store.budgets.load(Ordering::Relaxed) > 0 && seats.iter().any(is_new);
        if !was_charged && !seats.iter().any(Seat::overflows) {
            return;
        }
        let overflow = self.overflow.insert(store.overflow.lock());
        let mut promised: SmallVec<[Id; 4]> = SmallVec::new();
        for seat in seats.iter_mut().filter(|seat| seat.overflows()) {
            if overflow.contains(seat.budget) || promised.contains(&seat.budget) {
                continue;
            }
            if overflow.has_room(promised.len(), || store.seconds(now)) {
                promised.push(seat.budget);
            } else {
                seat.place = Place::Nowhere;
            }
        }
    }

    /// What a key without an entry has used: nothing, unless it was charged where there was no place
    /// for it. Then that is at most what all such keys have used together.
    fn state_of_new<A: Kept>(
        &mut self,
        algorithm: &A,
        seat: &Seat,
        now: Timestamp,
    ) -> Option<A::State> {
        match seat.place {
            Place::New => self.overflow.as_mut()?.used_by(algorithm, seat.id, seat.budget, now),
            Place::Nowhere => used_up(algorithm, seat.limit, now),
            Place::Entry | Place::Overflow => None,
        }
    }

    fn admits<A: Kept>(&mut self, algorithm: &A, seat: &Seat, now: Timestamp, cost: u64) -> bool {
        let look = |state: &mut Option<A::State>| {
            (algorithm.admits(state.as_ref(), now, cost), Expiry::NotBefore(0))
        };
        if let Some((table, id)) = self.table(seat)
            && let Some(admits) = A::visit(table, id, look)
        {
            return admits;
        }
        algorithm.admits(self.state_of_new(algorithm, seat, now).as_ref(), now, cost)
    }

    fn settle<A: Kept>(
        &mut self,
        algorithm: &A,
        seat: &Seat,
        now: Timestamp,
        verdict: Verdict,
    ) -> Judged {
        let store = self.store;
        let overflows = seat.overflows() && verdict.charged;
        let mut used_before = now;
        let mut settle = |state: &mut Option<A::State>| {
            if overflows {
                used_before = overflow::used_until(algorithm, state.as_ref(), now);
            }
            let mut answer = algo::settle(algorithm, state, now, verdict);
            if !verdict.admitted {
                // Another check of the list may have been what the budget had no more for.
                answer.retry_after_ms = answer.retry_after_ms.map(|ms| ms.max(1));
            }
            let at = state.as_ref().filter(|_| verdict.charged).map(A::charged_at);
            ((answer, at), store.expiry(now, answer, verdict.charged))
        };
        let known = self.table(seat).and_then(|(table, id)| A::visit(table, id, &mut settle));
        let judged = if let Some(judged) = known {
            judged
        } else {
            let mut state = self.state_of_new(algorithm, seat, now);
            let (judged, expiry) = settle(&mut state);
            // A refused call leaves nothing behind.
            let state = state.filter(|_| verdict.charged);
            match (state, self.table(seat)) {
                (Some(state), Some((table, id))) => A::insert(table, id, state, expiry.at()),
                _ if seat.place == Place::New => store.release(&[seat.id.rule()]),
                _ => {}
            }
            judged
        };
        if let Some(overflow) = self.overflow.as_mut().filter(|_| overflows) {
            overflow.note(seat.id, seat.budget, (used_before, &judged.0), now);
        }
        judged
    }

    /// Unlocks, and counts and logs what found no place.
    fn end(self, seats: &[Seat], checks: &[Check<'_>], now: Timestamp) {
        let Self { store, shards, overflow } = self;
        let Some(mut overflow) = overflow else { return };
        store.count_budgets(&overflow);
        let mut due: SmallVec<[(usize, u64); 4]> = SmallVec::new();
        for (i, seat) in seats.iter().enumerate() {
            if matches!(seat.place, Place::Overflow | Place::Nowhere)
                && let Some(overflowed) = overflow.count(seat.id.rule(), now)
            {
                due.push((i, overflowed));
            }
        }
        drop((overflow, shards));
        for (i, (seat, check)) in seats.iter().zip(checks).enumerate() {
            if !matches!(seat.place, Place::Overflow | Place::Nowhere) {
                continue;
            }
            let due = due.iter().find(|(due, _)| *due == i).map(|(_, overflowed)| *overflowed);
            store.overflow_of(check, seat.place == Place::Nowhere, due);
        }
    }
}

/// Whether a key in this state is like one that was never used.
fn is_unused<A: Kept>(algorithm: &A, state: Option<&A::State>, now: Timestamp) -> bool {
    let look = Verdict { cost: 0, admitted: true, charged: false };
    algorithm.answer(state, now, look).reset_after_ms == 0
}

/// Whether a key has an entry, and not all of its budget.
fn is_used<A: Kept>(algorithm: &A, shard: &mut Shard, id: Id, now: Timestamp) -> bool {
    let look = |state: &mut Option<A::State>| {
        (!is_unused(algorithm, state.as_ref(), now), Expiry::NotBefore(0))
    };
    A::visit(shard, id, look).unwrap_or(false)
}

/// The state of a budget that has just been used up.
fn used_up<A: Kept>(algorithm: &A, limit: u64, now: Timestamp) -> Option<A::State> {
    (limit > 0).then(|| algorithm.charge(None, now, limit))
}

fn key_id(check: &Check<'_>) -> Id {
    Id::of_key(check.seed(), check.key().as_str())
}

impl Drop for Embedded {
    fn drop(&mut self) {
        telemetry::entries_gone(self.len());
        telemetry::overflow_budgets(self.budgets.load(Ordering::Relaxed), 0);
    }
}

impl Store for Embedded {
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        Some(self.decide_list(checks, |_| {}))
    }

    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move { self.decide_list(checks, |_| {}) })
    }

    fn charge_now(&self, checks: &[Check<'_>]) -> Option<Result<(Answers, Charges), StoreError>> {
        let mut charges = Charges::new();
        let answers = self.decide_list(checks, |at| charges.push(at));
        Some(answers.map(|answers| (answers, charges)))
    }

    fn charge<'a>(
        &'a self,
        checks: &'a [Check<'a>],
    ) -> BoxFuture<'a, Result<(Answers, Charges), StoreError>> {
        Box::pin(async move { self.charge_now(checks).unwrap_or(Err(StoreError::Reply)) })
    }

    fn refund(&self, charged: &[Charged<'_>]) {
        let now = self.clock.now_ns();
        for charged in charged {
            let check = &charged.check;
            let Ok(plan) = check.plan(Resolution::Nanos) else { continue };
            let queued_until = charged.queued_until(Resolution::Nanos);
            let charge = Charge { at: charged.at, cost: check.cost(), queued_until };
            with_algorithm!(&plan, algorithm => {
                self.refund_one(algorithm, key_id(check), now, charge);
            });
        }
    }

    fn peek<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move { self.look(checks) })
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let now = self.clock.now_ns();
            // A rule may have its numbers from each call only.
            let plan = check.plan(Resolution::Nanos).ok();
            let was_used = self.forget_entry(check, plan.as_ref(), now);
            let had_overflowed = match &plan {
                Some(plan) => {
                    with_algorithm!(plan, algorithm => self.forget_overflow(algorithm, check, now))
                }
                None => false,
            };
            Ok(was_used || had_overflowed)
        })
    }
}
