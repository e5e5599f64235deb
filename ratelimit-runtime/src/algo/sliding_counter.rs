//! Sliding counter: the latest parts of the window in full, the part before them in proportion.
//!
//! Positions in time are counted in units of 1/N tick, N being the number of sub-windows: then a
//! sub-window is as many units long as the window has ticks, and its borders are whole.

use smallvec::SmallVec;

use super::{
    Answer, Arithmetic, Charge, Refund, Resolution, Timestamp, Verdict, div, div_up, saturate,
    since,
};

/// A sliding counter compiled for a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingCounter {
    /// How many permits a window has.
    pub limit: u64,
    /// How the window is split.
    pub grid: Grid,
    per_ms: u64,
}

/// A window split into sub-windows, counted from the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The length of the window in ticks.
    pub window: u64,
    /// In how many parts it is split, at least 1.
    pub parts: u32,
}

/// What a sliding counter keeps for a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterState {
    /// The latest admitted call.
    pub last: Timestamp,
    /// The grid on which this was counted: a rule may get another one.
    pub grid: Grid,
    /// The number of the sub-window of the first count.
    pub newest: i64,
    /// The permits given per sub-window, newest first: one more than the window has parts.
    pub counts: SmallVec<[u64; 2]>,
}

/// The counts at the instant at which a call reads them.
struct View<'a> {
    t: Timestamp,
    /// The grid of the counts.
    grid: Grid,
    /// The sub-window of `t`, and how far it has gone, in units.
    index: i64,
    elapsed: u128,
    /// The sub-window of the first count, and the counts from there back.
    newest: i64,
    counts: &'a [u64],
    /// A count from another grid is rounded up: it has to fit into one sub-window of the new one.
    round_up: bool,
}

impl Grid {
    fn parts(self) -> i128 {
        i128::from(self.parts.max(1))
    }

    fn window(self) -> i128 {
        i128::from(self.window.max(1))
    }

    /// Whether the sub-windows of both are equally long, and so have the same numbers.
    fn is_as_wide_as(self, other: Self) -> bool {
        self.window() * other.parts() == other.window() * self.parts()
    }

    /// The sub-window of an instant, and how far it has gone then, in units.
    fn locate(self, instant: Timestamp) -> (i64, u128) {
        let position = i128::from(instant) * self.parts();
        let index = position.div_euclid(self.window());
        let elapsed = position.rem_euclid(self.window());
        (i64::try_from(index).unwrap_or(i64::MAX), elapsed.unsigned_abs())
    }

    /// The last instant of a sub-window.
    fn last_of(self, index: i64) -> Timestamp {
        let border = (i128::from(index) + 1) * self.window();
        // Rounded down, of the instants before the border.
        let last = (border - 1).div_euclid(self.parts());
        i64::try_from(last).unwrap_or(Timestamp::MAX)
    }

    /// Whole ticks, rounded up, from `now` until so far into a sub-window.
    fn ticks_until(self, now: Timestamp, index: i64, elapsed: u128) -> u128 {
        let target = i128::from(index) * self.window() + i128::try_from(elapsed).unwrap_or(0);
        let distance = target - i128::from(now) * self.parts();
        u128::try_from(distance).map_or(0, |distance| div_up(distance, self.parts().unsigned_abs()))
    }
}

impl View<'_> {
    /// The count of the sub-window so many before the one with this number.
    fn count(&self, index: i64, back: i64) -> u64 {
        let place = self.newest.saturating_sub(index).saturating_add(back);
        usize::try_from(place).ok().and_then(|i| self.counts.get(i)).copied().unwrap_or(0)
    }

    /// What counts in full, and the count that is weighted, in the sub-window with this number.
    fn weigh(&self, index: i64) -> (u128, u64) {
        let parts = i64::from(self.grid.parts.max(1));
        let full = (0..parts).map(|back| u128::from(self.count(index, back))).sum();
        (full, self.count(index, parts))
    }

    fn estimate(&self) -> u128 {
        let (full, oldest) = self.weigh(self.index);
        let window = self.grid.window().unsigned_abs();
        let weighted = u128::from(oldest) * (window - self.elapsed);
        full + if self.round_up { div_up(weighted, window) } else { div(weighted, window) }
    }

    /// How far the sub-window with this number must have gone until the estimate is at most `room`;
    /// `None` if that is not within it.
    fn falls_to(&self, index: i64, room: u64) -> Option<u128> {
        let (full, oldest) = self.weigh(index);
        let window = self.grid.window().unsigned_abs();
        let room = u128::from(room).checked_sub(full)?;
        let oldest = u128::from(oldest);
        if oldest <= room {
            return Some(0);
        }
        // oldest * (window - elapsed) / window, rounded up or down, is at most `room`.
        let elapsed = if self.round_up {
            window - div(room * window, oldest)
        } else {
            window + 1 - div_up((room + 1) * window, oldest)
        };
        (elapsed < window).then_some(elapsed)
    }
}

impl SlidingCounter {
    /// A window of `window_us` microseconds in `parts` sub-windows.
    pub const fn new(limit: u64, window_us: u64, parts: u32, resolution: Resolution) -> Self {
        let per_ms = resolution.per_ms();
        let window = window_us.saturating_mul(per_ms / 1_000);
        Self { limit, grid: Grid { window, parts }, per_ms }
    }

    fn view<'a>(&self, state: Option<&'a CounterState>, now: Timestamp) -> View<'a> {
        let Some(state) = state else {
            let (index, elapsed) = self.grid.locate(now);
            let grid = self.grid;
            return View { t: now, grid, index, elapsed, newest: 0, counts: &[], round_up: false };
        };
        let is_reset = self.is_from_a_reset_clock(state.last, now);
        let t = if is_reset { now } else { now.max(state.last) };
        // As long as sub-windows are as wide as before, their counts mean the same.
        let same_width = state.grid.is_as_wide_as(self.grid);
        let grid = if same_width { self.grid } else { state.grid };
        let (index, elapsed) = grid.locate(t);
        View {
            t,
            grid,
            index,
            elapsed,
            newest: if is_reset { index } else { state.newest },
            counts: &state.counts,
            round_up: !same_width,
        }
    }

    /// Whether a clock that has since been reset wrote this: further ahead than a window and a sub-window.
    fn is_from_a_reset_clock(&self, last: Timestamp, now: Timestamp) -> bool {
        let ahead = i128::from(since(last, now)) * self.grid.parts();
        ahead > self.grid.window() * (self.grid.parts() + 1)
    }

    fn millis(&self, ticks: u128) -> u64 {
        saturate(div_up(ticks, u128::from(self.per_ms)))
    }

    fn retry_after(&self, view: &View<'_>, now: Timestamp, cost: u64) -> Option<u64> {
        let room = self.limit.checked_sub(cost)?;
        let parts = i64::from(view.grid.parts.max(1));
        let (index, elapsed) = (view.index..=view.index.saturating_add(parts))
            .find_map(|index| Some((index, view.falls_to(index, room)?)))
            .unwrap_or((view.newest.saturating_add(parts + 1), 0));
        Some(self.millis(view.grid.ticks_until(now, index, elapsed)).max(1))
    }
}

impl Arithmetic for SlidingCounter {
    type State = CounterState;

    fn admits(&self, state: Option<&CounterState>, now: Timestamp, cost: u64) -> bool {
        cost == 0 || self.view(state, now).estimate() + u128::from(cost) <= u128::from(self.limit)
    }

    fn charge(&self, state: Option<CounterState>, now: Timestamp, cost: u64) -> CounterState {
        let view = self.view(state.as_ref(), now);
        let t = view.t;
        let (newest, _) = self.grid.locate(t);
        let len = self.grid.parts.max(1) as usize + 1;
        let mut counts: SmallVec<[u64; 2]> = SmallVec::with_capacity(len);
        if view.round_up {
            counts.push(saturate(view.estimate()));
            counts.resize(len, 0);
        } else {
            counts.extend((0..).map(|back| view.count(newest, back)).take(len));
        }
        if let Some(count) = counts.first_mut() {
            *count = count.saturating_add(cost);
        }
        CounterState { last: t, grid: self.grid, newest, counts }
    }

    fn rebase_if_clock_reset(&self, state: &mut CounterState, now: Timestamp) -> bool {
        let is_reset = self.is_from_a_reset_clock(state.last, now);
        if is_reset {
            state.last = now;
            (state.newest, _) = state.grid.locate(now);
        }
        is_reset
    }

    fn answer(&self, state: Option<&CounterState>, now: Timestamp, verdict: Verdict) -> Answer {
        let view = self.view(state, now);
        let used = view.estimate();
        Answer {
            admitted: verdict.admitted,
            limit: self.limit,
            remaining: saturate(u128::from(self.limit).saturating_sub(used)),
            retry_after_ms: if verdict.admitted {
                Some(0)
            } else {
                self.retry_after(&view, now, verdict.cost)
            },
            reset_after_ms: match state {
                Some(_) => {
                    let parts = i64::from(view.grid.parts.max(1));
                    let forgotten = view.newest.saturating_add(parts + 1);
                    self.millis(view.grid.ticks_until(now, forgotten, 0))
                }
                None => 0,
            },
            delay_ms: 0,
        }
    }

    fn charged_at(state: &CounterState) -> Timestamp {
        state.last
    }

    fn refund(&self, state: &mut CounterState, now: Timestamp, charge: Charge) -> Refund {
        if state.grid != self.grid
            || state.last < charge.at
            || self.is_from_a_reset_clock(state.last, now)
        {
            return Refund::Stands;
        }
        let (index, _) = self.grid.locate(charge.at);
        let place = usize::try_from(state.newest.saturating_sub(index)).ok();
        let Some(count) = place.and_then(|place| state.counts.get_mut(place)) else {
            return Refund::Stands;
        };
        let Some(left) = count.checked_sub(charge.cost) else { return Refund::Stands };
        *count = left;
        let used = state.counts.iter().position(|count| *count > 0);
        match used {
            None if state.last <= now => return Refund::Unused,
            None | Some(0) => {}
            // A key is an unused one when its newest sub-window is old enough, and that is one in
            // which something was charged: the others are dropped, with the instant `last`.
            Some(unused) => {
                state.counts.rotate_left(unused);
                let kept = state.counts.len() - unused;
                state.counts.iter_mut().skip(kept).for_each(|count| *count = 0);
                state.newest -= i64::try_from(unused).unwrap_or(0);
                state.last = self.grid.last_of(state.newest);
            }
        }
        Refund::Made
    }
}
