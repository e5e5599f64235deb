//! The store in this process.

mod shard;

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use self::shard::{Expiry, Kept, Seconds, Shard};
use super::{Answers, BoxFuture, Store};
use crate::algo::{self, Answer, Instant, Plan, Resolution, Verdict};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::identity::Id;
use crate::rule::Check;
use crate::telemetry;

const NS_PER_SECOND: i64 = 1_000_000_000;

/// In this time, calls sweep the whole store.
const SWEEP_NS: i64 = 2 * NS_PER_SECOND;

/// The most shards that one call sweeps.
const SWEEP_AT_ONCE: i64 = 8;

/// How much longer an entry is kept when the clock is a caller's, which may step back.
const GRACE_SECONDS: Seconds = 60;

/// Entries per shard when the store is full.
const SHARD_ENTRIES: usize = 2_048;

/// Runs an expression on the algorithm in a plan.
macro_rules! with_algorithm {
    ($plan:expr, $algorithm:ident => $run:expr) => {
        match $plan {
            Plan::TokenBucket($algorithm) => $run,
            Plan::LeakyBucket($algorithm) => $run,
            Plan::FixedWindow($algorithm) => $run,
            Plan::SlidingLog($algorithm) => $run,
            Plan::SlidingCounter($algorithm) => $run,
        }
    };
}

/// The store in this process: exact, and bounded in memory.
///
/// An entry leaves when its key is as good as new; calls do the cleaning, a few entries at a time.
/// When [`max_keys`](Embedded::with_max_keys) are in use, a new key is not let in for an old one,
/// which would hand its quota back: all new keys of a rule share one overflow budget then.
///
/// Limits hold for this process only.
pub struct Embedded {
    shards: Box<[Mutex<Shard>]>,
    /// The overflow budgets, one per rule. Locked after shards.
    overflow: Mutex<Shard>,
    clock: Clock,
    max_keys: usize,
    /// Counts `max_keys` as long as the store is there.
    _capacity: telemetry::Capacity,
    /// The entries in `shards`, and the places promised to checks under way.
    len: AtomicUsize,
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
            .field("max_keys", &self.max_keys)
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
    /// sliding log 16 for every call in its window.
    #[must_use]
    pub fn with_max_keys(self, max_keys: usize) -> Self {
        Self::build(max_keys.max(1), self.clock.clone())
    }

    /// The same store, empty, on another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self::build(self.max_keys, clock)
    }

    fn build(max_keys: usize, clock: Clock) -> Self {
        let shards = (max_keys / SHARD_ENTRIES).next_power_of_two().clamp(1, 4_096);
        let now = clock.now_ns();
        Self {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            overflow: Mutex::default(),
            max_keys,
            _capacity: telemetry::Capacity::new(max_keys),
            len: AtomicUsize::new(0),
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
        self.len.load(Ordering::Relaxed)
    }

    /// Whether no key is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many calls were decided in an overflow budget because the store was full.
    pub fn overflowed(&self) -> usize {
        self.overflowed.load(Ordering::Relaxed)
    }

    fn decide_list(&self, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
        let now = self.clock.now_ns();
        self.sweep(now);
        match checks {
            [check] => {
                let plan = check.plan(Resolution::Nanos)?;
                let answer =
                    with_algorithm!(&plan, algorithm => self.decide_one(algorithm, check, now));
                Ok(Answers::from_buf([answer]))
            }
            checks => self.decide_all(checks, now),
        }
    }

    fn decide_one<A: Kept>(&self, algorithm: &A, check: &Check<'_>, now: Instant) -> Answer {
        let cost = check.permits();
        let hit = |state: &mut Option<A::State>| {
            let answer = algo::hit(algorithm, state, now, cost);
            (answer, self.expiry(now, answer, answer.allowed && cost > 0))
        };
        let id = key_id(check);
        let mut shard = self.shard(id).lock();
        if let Some(answer) = A::visit(&mut shard, id, hit) {
            return answer;
        }
        if self.reserve(&mut shard, now) {
            let mut state = None;
            let (answer, expiry) = hit(&mut state);
            match state {
                Some(state) => A::insert(&mut shard, id, state, expiry.at()),
                None => self.release(1),
            }
            return answer;
        }
        drop(shard);
        self.overflowed.fetch_add(1, Ordering::Relaxed);
        telemetry::overflowed(check.rule());
        let id = Id::of_overflow(check.rule().seed());
        let mut overflow = self.overflow.lock();
        if let Some(answer) = A::visit(&mut overflow, id, hit) {
            return answer;
        }
        let mut state = None;
        let (answer, expiry) = hit(&mut state);
        if let Some(state) = state {
            A::insert(&mut overflow, id, state, expiry.at());
        }
        answer
    }

    fn decide_all(&self, checks: &[Check<'_>], now: Instant) -> Result<Answers, StoreError> {
        let mut seats: SmallVec<[Seat; 4]> = SmallVec::new();
        for check in checks {
            let plan = check.plan(Resolution::Nanos)?;
            let id = key_id(check);
            seats.push(Seat { plan, id, shard: Some(self.index(id)), reserved: false });
        }
        let mut locked = self.lock(&seats);
        for (seat, check) in seats.iter_mut().zip(checks) {
            self.seat(seat, check, &mut locked, now);
        }
        let admits: SmallVec<[bool; 4]> = seats
            .iter()
            .zip(checks)
            .map(|(seat, check)| {
                let shard = locked.get(seat);
                with_algorithm!(&seat.plan, algorithm => {
                    admits(algorithm, shard, seat.id, now, check.permits())
                })
            })
            .collect();
        let all = admits.iter().zip(checks).all(|(admits, check)| *admits || check.is_shadow());
        let answers = seats.iter().zip(checks).zip(admits).map(|((seat, check), allowed)| {
            let cost = check.permits();
            let verdict = Verdict { cost, allowed, charged: all && allowed && cost > 0 };
            let shard = locked.get(seat);
            with_algorithm!(&seat.plan, algorithm => {
                self.settle(algorithm, shard, seat, now, verdict)
            })
        });
        Ok(answers.collect())
    }

    /// Locks the shards of a list in their order, so that two lists cannot wait for each other.
    fn lock(&self, seats: &[Seat]) -> Locked<'_> {
        let mut indices: SmallVec<[usize; 4]> = seats.iter().filter_map(|s| s.shard).collect();
        indices.sort_unstable();
        indices.dedup();
        let shards = indices.into_iter().filter_map(|i| Some((i, self.shards.get(i)?.lock())));
        let shards = shards.collect();
        Locked { shards, overflow: self.overflow.lock() }
    }

    /// Finds out where a check is decided: in its own entry or, if the store is full, in its
    /// rule's overflow budget.
    fn seat(&self, seat: &mut Seat, check: &Check<'_>, locked: &mut Locked<'_>, now: Instant) {
        let shard = locked.get(seat);
        if shard.contains(seat.id) {
            return;
        }
        seat.reserved = self.reserve(shard, now);
        if !seat.reserved {
            self.overflowed.fetch_add(1, Ordering::Relaxed);
            telemetry::overflowed(check.rule());
            seat.id = Id::of_overflow(check.rule().seed());
            seat.shard = None;
        }
    }

    fn settle<A: Kept>(
        &self,
        algorithm: &A,
        shard: &mut Shard,
        seat: &Seat,
        now: Instant,
        verdict: Verdict,
    ) -> Answer {
        let settle = |state: &mut Option<A::State>| {
            let answer = algo::settle(algorithm, state, now, verdict);
            (answer, self.expiry(now, answer, verdict.charged))
        };
        if let Some(answer) = A::visit(shard, seat.id, settle) {
            return answer;
        }
        let mut state = None;
        let (answer, expiry) = settle(&mut state);
        match state {
            Some(state) => A::insert(shard, seat.id, state, expiry.at()),
            None if seat.reserved => self.release(1),
            None => {}
        }
        answer
    }

    fn index(&self, id: Id) -> usize {
        // There is a power of two of shards, and at least one.
        id.shard() & (self.shards.len() - 1)
    }

    fn shard(&self, id: Id) -> &Mutex<Shard> {
        self.shards.get(self.index(id)).unwrap_or(&self.overflow)
    }

    /// Promises a place to a new key; `false` if the store is full of keys that are in use.
    fn reserve(&self, shard: &mut Shard, now: Instant) -> bool {
        let reserve = || {
            let more = |len| (len < self.max_keys).then_some(len + 1);
            let is_there =
                self.len.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
            if is_there {
                telemetry::entry_added();
            }
            is_there
        };
        if reserve() {
            return true;
        }
        let gone = shard.sweep(self.seconds(now));
        self.release(gone);
        if gone == 0 {
            self.sweep_next(now);
        }
        reserve()
    }

    fn release(&self, places: usize) {
        self.len.fetch_sub(places, Ordering::Relaxed);
        telemetry::entries_gone(places);
    }

    /// Sweeps what is due, so that idle keys leave whatever keys the calls are for.
    fn sweep(&self, now: Instant) {
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

    fn sweep_next(&self, now: Instant) {
        let next = self.next_shard.fetch_add(1, Ordering::Relaxed) & (self.shards.len() - 1);
        // A shard that is busy has its turn in the next round.
        if let Some(mut shard) = self.shards.get(next).and_then(Mutex::try_lock) {
            self.release(shard.sweep(self.seconds(now)));
        }
        if next == 0
            && let Some(mut overflow) = self.overflow.try_lock()
        {
            overflow.sweep(self.seconds(now));
        }
    }

    fn seconds(&self, now: Instant) -> Seconds {
        let seconds = now.saturating_sub(self.started_ns) / NS_PER_SECOND;
        Seconds::try_from(seconds.max(0)).unwrap_or(Seconds::MAX - 1)
    }

    fn expiry(&self, now: Instant, answer: Answer, charged: bool) -> Expiry {
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

/// Where a check of a list is decided.
#[derive(Debug)]
struct Seat {
    plan: Plan,
    id: Id,
    /// `None`: among the overflow budgets.
    shard: Option<usize>,
    /// Whether a place for a new key is promised.
    reserved: bool,
}

/// The shards that a list touches.
struct Locked<'a> {
    shards: SmallVec<[(usize, MutexGuard<'a, Shard>); 4]>,
    overflow: MutexGuard<'a, Shard>,
}

impl Locked<'_> {
    fn get(&mut self, seat: &Seat) -> &mut Shard {
        match self.shards.iter_mut().find(|(index, _)| Some(*index) == seat.shard) {
            Some((_, shard)) => shard,
            None => &mut self.overflow,
        }
    }
}

fn key_id(check: &Check<'_>) -> Id {
    Id::of_key(check.rule().seed(), check.key().as_str())
}

fn admits<A: Kept>(algorithm: &A, shard: &mut Shard, id: Id, now: Instant, cost: u64) -> bool {
    let look = |state: &mut Option<A::State>| {
        (algorithm.admits(state.as_ref(), now, cost), Expiry::NotBefore(0))
    };
    A::visit(shard, id, look).unwrap_or_else(|| algorithm.admits(None, now, cost))
}

impl Drop for Embedded {
    fn drop(&mut self) {
        telemetry::entries_gone(self.len());
    }
}

impl Store for Embedded {
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        Some(self.decide_list(checks))
    }

    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move { self.decide_list(checks) })
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = Id::of_key(check.rule().seed(), check.key().as_str());
            if self.shard(id).lock().remove(id) {
                self.release(1);
            }
            Ok(())
        })
    }
}
