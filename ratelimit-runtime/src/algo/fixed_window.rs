//! Fixed window: opened by the first admitted call, forgotten when it ends.

use super::{
    Answer, Arithmetic, Charge, Refund, Resolution, Timestamp, Verdict, after, saturate, since,
};

/// A fixed window compiled for a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWindow {
    /// How many permits a window has.
    pub limit: u64,
    /// Its length in ticks.
    pub window: u64,
    per_ms: u64,
}

/// What a fixed window keeps for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    /// When the window opened.
    pub start: Timestamp,
    /// The latest admitted call.
    pub last: Timestamp,
    /// The permits given since it opened.
    pub count: u64,
}

/// The window at the instant at which a call reads it.
struct View {
    t: Timestamp,
    start: Timestamp,
    count: u64,
}

impl FixedWindow {
    /// A window of `window_us` microseconds.
    pub const fn new(limit: u64, window_us: u64, resolution: Resolution) -> Self {
        let per_ms = resolution.per_ms();
        Self { limit, window: window_us.saturating_mul(per_ms / 1_000), per_ms }
    }

    fn view(&self, state: Option<&WindowState>, now: Timestamp) -> View {
        let fresh = |t| View { t, start: t, count: 0 };
        let Some(state) = state else { return fresh(now) };
        let mut state = *state;
        self.rebase_if_clock_reset(&mut state, now);
        let t = now.max(state.last);
        if since(t, state.start) < self.window {
            View { t, start: state.start, count: state.count }
        } else {
            fresh(t)
        }
    }

    fn millis_to_end(&self, view: &View, now: Timestamp) -> u64 {
        let end = after(view.start, u128::from(self.window));
        saturate(u128::from(since(end, now).div_ceil(self.per_ms)))
    }
}

impl Arithmetic for FixedWindow {
    type State = WindowState;

    fn admits(&self, state: Option<&WindowState>, now: Timestamp, cost: u64) -> bool {
        cost == 0
            || self.view(state, now).count.checked_add(cost).is_some_and(|sum| sum <= self.limit)
    }

    fn charge(&self, state: Option<WindowState>, now: Timestamp, cost: u64) -> WindowState {
        let View { t, start, count } = self.view(state.as_ref(), now);
        WindowState { start, last: t, count: count.saturating_add(cost) }
    }

    fn rebase_if_clock_reset(&self, state: &mut WindowState, now: Timestamp) -> bool {
        let ahead = since(state.last, now);
        let is_reset = ahead > self.window;
        if is_reset {
            state.start = state.start.saturating_sub_unsigned(ahead);
            state.last = now;
        }
        is_reset
    }

    fn answer(&self, state: Option<&WindowState>, now: Timestamp, verdict: Verdict) -> Answer {
        let view = self.view(state, now);
        let end = self.millis_to_end(&view, now);
        Answer {
            admitted: verdict.admitted,
            limit: self.limit,
            remaining: self.limit.saturating_sub(view.count),
            retry_after_ms: match verdict {
                Verdict { admitted: true, .. } => Some(0),
                Verdict { cost, .. } if cost > self.limit => None,
                Verdict { .. } => Some(end),
            },
            reset_after_ms: if view.count == 0 { 0 } else { end },
            delay_ms: 0,
        }
    }

    fn charged_at(state: &WindowState) -> Timestamp {
        state.last
    }

    fn refund(&self, state: &mut WindowState, now: Timestamp, charge: Charge) -> Refund {
        let Charge { at, cost, .. } = charge;
        let is_reset = since(state.last, now) > self.window;
        if is_reset || at > state.last || at < state.start || state.count < cost {
            return Refund::Stands;
        }
        state.count -= cost;
        if state.count == 0 {
            // A window opens with a charge, and this one has none: it is over. The instant of the
            // latest charge stays.
            state.start = Timestamp::MIN;
        }
        Refund::Made
    }
}
