//! Sliding log: every admitted call is remembered for one window.

use std::collections::VecDeque;

use super::{
    Answer, Arithmetic, Charge, Refund, Resolution, Timestamp, Verdict, after, saturate, since,
};

/// The most entries behind one that is refunded: they are written again.
const MOST_BEHIND: usize = 100;

/// A log of fewer entries is left as it is while nothing is charged.
const MANY: usize = 64;

/// A sliding log compiled for a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingLog {
    /// How many permits in any span of one window.
    pub limit: u64,
    /// The length of that span in ticks.
    pub window: u64,
    per_ms: u64,
}

/// What a sliding log keeps for a key.
///
/// Entries carry running totals, so that the sum of the live ones and the entry that has to leave
/// before a call fits are found by binary search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    entries: VecDeque<Entry>,
    /// The running total in front of the first entry.
    before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Timestamp,
    /// The running total up to and with this entry. It wraps; only differences count.
    total: u64,
}

impl LogState {
    /// A log with these calls, oldest first: when, and at what cost.
    pub fn new(calls: impl IntoIterator<Item = (Timestamp, u64)>) -> Self {
        let mut log = Self::default();
        for (at, cost) in calls {
            log.push(at, cost);
        }
        log
    }

    /// How many places the log takes; calls at one instant share one.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A log of at most `max` entries (at least 1) that remembers as many permits, none of them for
    /// less long: each entry stands for some that came before it as well.
    #[must_use]
    pub fn condensed(&self, max: usize) -> Self {
        let step = self.entries.len().div_ceil(max.max(1)).max(1);
        // The latest entry is always among them: they are picked from the end.
        let first = self.entries.len().saturating_sub(1) % step;
        let entries = self.entries.iter().skip(first).step_by(step).copied().collect();
        Self { entries, before: self.before }
    }

    /// A log that was long once does not keep its memory.
    fn shrink(&mut self) {
        if self.entries.capacity() > 4 * self.entries.len() + 16 {
            self.entries.shrink_to(2 * self.entries.len());
        }
    }

    /// How many of the oldest entries are not after an instant.
    fn until(&self, instant: Timestamp) -> usize {
        self.entries.partition_point(|entry| entry.at <= instant)
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn push(&mut self, at: Timestamp, cost: u64) {
        let total = self.total().wrapping_add(cost);
        match self.entries.back_mut() {
            Some(entry) if entry.at == at => entry.total = total,
            _ => self.entries.push_back(Entry { at, total }),
        }
    }

    /// Takes a call out again; `false` if it is not there, or too much is behind it.
    fn take_out(&mut self, at: Timestamp, cost: u64) -> bool {
        let Ok(place) = self.entries.binary_search_by_key(&at, |entry| entry.at) else {
            return false;
        };
        let before = place.checked_sub(1).and_then(|i| self.entries.get(i));
        let before = before.map_or(self.before, |entry| entry.total);
        let own = self.entries.get(place).map_or(0, |entry| entry.total.wrapping_sub(before));
        if own < cost || self.entries.len() - place > MOST_BEHIND + 1 {
            return false;
        }
        for entry in self.entries.range_mut(place..) {
            entry.total = entry.total.wrapping_sub(cost);
        }
        if own == cost {
            self.entries.remove(place);
        }
        true
    }

    fn total(&self) -> u64 {
        self.entries.back().map_or(self.before, |entry| entry.total)
    }

    fn last(&self) -> Option<Timestamp> {
        self.entries.back().map(|entry| entry.at)
    }

    /// The permits given after an instant.
    fn sum_after(&self, instant: Option<Timestamp>) -> u64 {
        let Some(instant) = instant else { return self.total().wrapping_sub(self.before) };
        let gone = self.until(instant).checked_sub(1).and_then(|i| self.entries.get(i));
        self.total().wrapping_sub(gone.map_or(self.before, |entry| entry.total))
    }

    /// The first instant after whose entries at most `sum` permits are left.
    fn leaves(&self, sum: u64) -> Option<Timestamp> {
        let total = self.total();
        let first = self.entries.partition_point(|entry| total.wrapping_sub(entry.total) > sum);
        self.entries.get(first).map(|entry| entry.at)
    }
}

/// The log at the instant at which a call reads it.
struct View {
    t: Timestamp,
    sum: u64,
    /// By how much the entries must be moved back, because their clock has been reset.
    shift: u64,
}

impl SlidingLog {
    /// A log over `window_us` microseconds.
    pub const fn new(limit: u64, window_us: u64, resolution: Resolution) -> Self {
        let per_ms = resolution.per_ms();
        Self { limit, window: window_us.saturating_mul(per_ms / 1_000), per_ms }
    }

    fn view(&self, state: Option<&LogState>, now: Timestamp) -> View {
        let Some((state, last)) = state.and_then(|state| Some((state, state.last()?))) else {
            return View { t: now, sum: 0, shift: 0 };
        };
        let shift = self.ahead_of_reset_clock(last, now);
        let t = if shift > 0 { now } else { now.max(last) };
        View { t, sum: state.sum_after(self.edge(t, shift)), shift }
    }

    /// Entries at this instant and before no longer count. In the entries' own time.
    fn edge(&self, t: Timestamp, shift: u64) -> Option<Timestamp> {
        t.checked_add_unsigned(shift).and_then(|t| t.checked_sub_unsigned(self.window))
    }

    /// How far the log is ahead of the clock, if that is further than a full recovery; else 0.
    fn ahead_of_reset_clock(&self, last: Timestamp, now: Timestamp) -> u64 {
        let ahead = since(last, now);
        if ahead > self.window { ahead } else { 0 }
    }

    fn millis_until_gone(&self, entry: Timestamp, now: Timestamp) -> u64 {
        let gone = after(entry, u128::from(self.window));
        saturate(u128::from(since(gone, now).div_ceil(self.per_ms)))
    }
}

impl Arithmetic for SlidingLog {
    type State = LogState;

    fn admits(&self, state: Option<&LogState>, now: Timestamp, cost: u64) -> bool {
        cost == 0
            || self.view(state, now).sum.checked_add(cost).is_some_and(|sum| sum <= self.limit)
    }

    fn charge(&self, state: Option<LogState>, now: Timestamp, cost: u64) -> LogState {
        let mut state = state.unwrap_or_default();
        self.rebase_if_clock_reset(&mut state, now);
        let t = state.last().map_or(now, |last| now.max(last));
        // Only an admitted call forgets: after a step back of the clock an entry may count again.
        while let Some(entry) = state.entries.front()
            && since(t, entry.at) >= self.window
        {
            state.before = entry.total;
            state.entries.pop_front();
        }
        state.shrink();
        state.push(t, cost);
        state
    }

    fn rebase_if_clock_reset(&self, state: &mut LogState, now: Timestamp) -> bool {
        let Some(last) = state.last() else { return false };
        let shift = self.ahead_of_reset_clock(last, now);
        if shift > 0 {
            for entry in &mut state.entries {
                entry.at = entry.at.saturating_sub_unsigned(shift);
            }
        }
        shift > 0
    }

    fn condense(&self, state: &mut LogState, now: Timestamp) {
        if state.entries.len() < MANY {
            return;
        }
        let View { t, shift, .. } = self.view(Some(state), now);
        let dead = self.edge(t, shift).map_or(0, |edge| state.until(edge));
        // Half of them at least, so that an entry is not moved often.
        if dead > state.entries.len() / 2 {
            // The clock may step back: what they stand for is all that of the latest one then.
            state.entries.drain(..dead - 1);
            state.shrink();
        }
    }

    fn answer(&self, state: Option<&LogState>, now: Timestamp, verdict: Verdict) -> Answer {
        let View { t, sum, shift } = self.view(state, now);
        let back = |at: Timestamp| at.saturating_sub_unsigned(shift);
        let retry = || {
            let room = self.limit.checked_sub(verdict.cost)?;
            let at = state.and_then(|state| state.leaves(room)).map_or(t, back);
            Some(self.millis_until_gone(at, now).max(1))
        };
        Answer {
            admitted: verdict.admitted,
            limit: self.limit,
            remaining: self.limit.saturating_sub(sum),
            retry_after_ms: if verdict.admitted { Some(0) } else { retry() },
            reset_after_ms: match state.and_then(LogState::last) {
                Some(last) => self.millis_until_gone(back(last), now),
                None => 0,
            },
            delay_ms: 0,
        }
    }

    fn charged_at(state: &LogState) -> Timestamp {
        state.last().unwrap_or(Timestamp::MIN)
    }

    fn refund(&self, state: &mut LogState, now: Timestamp, charge: Charge) -> Refund {
        let Some(last) = state.last() else { return Refund::Stands };
        if self.ahead_of_reset_clock(last, now) > 0 || !state.take_out(charge.at, charge.cost) {
            return Refund::Stands;
        }
        state.shrink();
        if state.is_empty() { Refund::Unused } else { Refund::Made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: SlidingLog = SlidingLog::new(100_000, 3_000_000, Resolution::Micros);

    #[test]
    fn a_log_that_has_emptied_shrinks() {
        let mut state = None;
        for i in 0..60_000 {
            state = Some(LOG.charge(state, i, 1));
        }
        assert!(state.as_ref().is_some_and(|log| log.entries.capacity() >= 60_000));
        // One call every 2.5 s, so that it is never forgotten as a whole.
        for i in 1..=20 {
            state = Some(LOG.charge(state, i * 2_500_000, 1));
        }
        let log = state.unwrap();
        assert!(log.len() == 2 && log.entries.capacity() <= 32, "{}", log.entries.capacity());
    }

    /// Its entries go with time alone: no call is admitted.
    #[test]
    fn a_log_that_is_only_looked_at_shrinks() {
        use super::super::hit;
        for cost in [0, 70_000] {
            let mut state = None;
            for i in 0..60_000 {
                state = Some(LOG.charge(state, i, 1));
            }
            state = Some(LOG.charge(state, 2_900_000, 40_000));
            let exact = state.clone();
            for now in [3_000_000, 3_040_000, 3_100_000] {
                let answer = hit(&LOG, &mut state, now, cost);
                assert_eq!(answer.admitted, cost == 0);
                assert_eq!(answer, hit(&LOG, &mut exact.clone(), now, cost), "{now}");
            }
            let log = state.as_ref().unwrap();
            let used = |state: Option<&LogState>, now| LOG.view(state, now).sum;
            assert!(log.len() == 2 && log.entries.capacity() <= 32, "{log:?}");
            // Also on a clock that steps back nothing is handed out twice.
            for now in (2_900_000..6_000_000).step_by(1_000) {
                assert!(used(state.as_ref(), now) >= used(exact.as_ref(), now), "{now}");
            }
            for now in (3_100_000..6_000_000).step_by(1_000) {
                assert_eq!(used(state.as_ref(), now), used(exact.as_ref(), now), "{now}");
            }
        }
    }

    #[test]
    fn a_log_that_grows_and_shrinks_is_not_copied_each_time() {
        let mut state = None;
        let mut changes = 0;
        for i in 0..30_000_i64 {
            let before = state.as_ref().map_or(0, |log: &LogState| log.entries.capacity());
            // One entry a millisecond: 3,000 of them, one going for each that comes.
            let log = LOG.charge(state, i * 1_000, 1);
            changes += usize::from(log.entries.capacity() != before);
            state = Some(log);
        }
        assert!(changes < 20, "{changes}");
    }

    #[test]
    fn a_condensed_log_has_used_as_much_and_for_no_less_long() {
        let log = LogState::new((0..1_000_i64).map(|i| (i * 1_000, 1 + i.unsigned_abs() % 3)));
        for max in [1, 2, 3, 64, 999, 1_000, 5_000] {
            let condensed = log.condensed(max);
            assert!(condensed.len() <= max && condensed.last() == log.last(), "{max}");
            for now in (0..4_100_000).step_by(7_000) {
                let used = |log: &LogState| LOG.view(Some(log), now).sum;
                assert!(used(&condensed) >= used(&log), "{max} at {now}");
            }
            assert_eq!(condensed.sum_after(None), log.sum_after(None));
        }
        assert_eq!(log.condensed(1_000), log);
        assert_eq!(LogState::default().condensed(5), LogState::default());
    }
}
