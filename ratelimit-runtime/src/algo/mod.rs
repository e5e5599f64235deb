//! The five algorithms as integer arithmetic, exactly as `tests/vectors/README.md` defines them.
//!
//! Nothing here knows a clock, a store or a runtime. An instant is a number of ticks since the Unix
//! epoch, a span is a number of ticks, and a [`Resolution`] says how long a tick is. Every quantity
//! is exact; only an [`Answer`] rounds, and it rounds waits up.
//!
//! A decision has two phases, so that a list of checks can be decided all or nothing: every check is
//! asked whether it [`admits`](Arithmetic::admits), then each one is either
//! [charged](Arithmetic::charge) or [left alone](Arithmetic::rebase_if_clock_reset), and then
//! [`answer`](Arithmetic::answer) reads the state that resulted. A store that makes the decision
//! elsewhere rebuilds that state from its reply and calls the same `answer`.

mod fixed_window;
mod flow;
mod leaky_bucket;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

pub use fixed_window::{FixedWindow, WindowState};
pub use flow::Flow;
pub use leaky_bucket::{LeakyBucket, LeakyState};
pub use sliding_counter::{CounterState, Grid, SlidingCounter};
pub use sliding_log::{LogState, SlidingLog};
pub use token_bucket::{TokenBucket, TokenState};

use smallvec::SmallVec;

/// The largest capacity, limit or wait in milliseconds: 2^53 − 1, what a script can count to.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// The most permits that a sliding log remembers for one key.
pub const MAX_LOG: u64 = 1_000_000;

/// The longest period or window in microseconds: 2^52, 142 years.
pub const MAX_SPAN_US: u64 = 1 << 52;

/// The most parts in which a sliding counter splits its window.
pub const MAX_SUB_WINDOWS: u32 = 100;

/// A point in time: ticks since the Unix epoch.
pub type Timestamp = i64;

/// How long a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A microsecond: the clock of Redis.
    Micros,
    /// A nanosecond: the clock of the embedded store.
    Nanos,
}

impl Resolution {
    /// Ticks per millisecond.
    pub const fn per_ms(self) -> u64 {
        match self {
            Self::Micros => 1_000,
            Self::Nanos => 1_000_000,
        }
    }
}

/// What a check is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether this check alone would let the call pass.
    pub admitted: bool,
    /// The capacity or limit in force.
    pub limit: u64,
    /// The largest whole cost that would be admitted right now.
    pub remaining: u64,
    /// 0 if admitted; `None` if no wait will do; else the least number of milliseconds after which
    /// the same call is admitted if nothing else happens.
    pub retry_after_ms: Option<u64>,
    /// After how many milliseconds the key behaves as if it had never been used.
    pub reset_after_ms: u64,
    /// Leaky bucket: how many milliseconds to wait until all that is in front has leaked.
    pub delay_ms: u64,
}

/// One answer per check, in their order.
pub type Answers = SmallVec<[Answer; 1]>;

/// How a check ended, for [`Arithmetic::answer`].
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// What the call costs.
    pub cost: u64,
    /// Whether the check admits it.
    pub admitted: bool,
    /// Whether it was charged. An admitted check of a refused list is not.
    pub charged: bool,
}

impl Verdict {
    /// How a check ends: it is charged if it admits, and so do all checks of the call that are enforced.
    pub const fn new(cost: u64, admitted: bool, is_call_admitted: bool) -> Self {
        Self { cost, admitted, charged: is_call_admitted && admitted && cost > 0 }
    }
}

/// A charge that is to be refunded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The instant at which it was made, as [`Arithmetic::charged_at`] said then.
    pub at: Timestamp,
    /// What the call cost.
    pub cost: u64,
    /// Until when the call is certain to be in the line of a leaky bucket; `None` if it is in none.
    pub queued_until: Option<Timestamp>,
}

/// What became of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refund {
    /// The charge stands: it is not certain that the state has it.
    Stands,
    /// The state has been changed.
    Made,
    /// As `Made`, and nothing is left in the state: the key is an unused one.
    Unused,
}

/// One algorithm with its numbers, compiled for a resolution.
pub trait Arithmetic {
    /// What is kept for a key.
    type State;

    /// Whether a call of this cost is within the limit.
    fn admits(&self, state: Option<&Self::State>, now: Timestamp, cost: u64) -> bool;

    /// Takes the cost of an admitted call. Not to be called for a cost of 0.
    fn charge(&self, state: Option<Self::State>, now: Timestamp, cost: u64) -> Self::State;

    /// What a refused call of cost 1 or more leaves behind: nothing changes, except that a state
    /// written by a clock that has since been reset is moved to this clock. `true` if it was.
    fn rebase_if_clock_reset(&self, state: &mut Self::State, now: Timestamp) -> bool;

    /// Frees memory of a state that was not charged, if much of it says nothing at this instant. On a
    /// clock that steps back the state may have used more than before, and never less.
    fn condense(&self, state: &mut Self::State, now: Timestamp) {
        let _ = (state, now);
    }

    /// The answer that follows from the state after the decision.
    fn answer(&self, state: Option<&Self::State>, now: Timestamp, verdict: Verdict) -> Answer;

    /// The instant of the latest charge in a state.
    fn charged_at(state: &Self::State) -> Timestamp;

    /// Takes a charge out of a state, as far as that is certain to leave no more than if the call
    /// had not been charged. A call that is still in line is refunded in full: its turn is one that
    /// nobody takes; one whose turn has come by `now` is not, since its charge has leaked. Turns that were promised to others stay as they are.
    ///
    /// To be called once, and only for what was charged. The script `refund` does the same.
    fn refund(&self, state: &mut Self::State, now: Timestamp, charge: Charge) -> Refund;
}

/// Decides a single check and answers it.
pub fn hit<A: Arithmetic>(
    algorithm: &A,
    state: &mut Option<A::State>,
    now: Timestamp,
    cost: u64,
) -> Answer {
    let admitted = algorithm.admits(state.as_ref(), now, cost);
    settle(algorithm, state, now, Verdict::new(cost, admitted, true))
}

/// Does to the state what the verdict says, and answers.
pub fn settle<A: Arithmetic>(
    algorithm: &A,
    state: &mut Option<A::State>,
    now: Timestamp,
    verdict: Verdict,
) -> Answer {
    if verdict.charged {
        *state = Some(algorithm.charge(state.take(), now, verdict.cost));
    } else if let Some(state) = state.as_mut() {
        if verdict.cost > 0 {
            algorithm.rebase_if_clock_reset(state, now);
        }
        algorithm.condense(state, now);
    }
    algorithm.answer(state.as_ref(), now, verdict)
}

/// The ticks by which `later` is after `earlier`; 0 if it is not.
const fn since(later: Timestamp, earlier: Timestamp) -> u64 {
    if later > earlier { later.abs_diff(earlier) } else { 0 }
}

/// The instant so many ticks after another, or the end of time.
fn after(instant: Timestamp, ticks: u128) -> Timestamp {
    i64::try_from(ticks).map_or(Timestamp::MAX, |ticks| instant.saturating_add(ticks))
}

/// `a / b`, rounded down. Nearly always both fit into 64 bits, which is several times faster.
fn div(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(a / b),
        _ => a / b,
    }
}

/// `a / b`, rounded up.
fn div_up(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(a.div_ceil(b)),
        _ => a.div_ceil(b),
    }
}

/// A count that cannot be told beyond [`MAX_COUNT`].
fn saturate(value: u128) -> u64 {
    match u64::try_from(value) {
        Ok(value) if value < MAX_COUNT => value,
        _ => MAX_COUNT,
    }
}
