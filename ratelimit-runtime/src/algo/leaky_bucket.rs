//! Leaky bucket: a line of bounded length that moves on at a constant rate.

use super::flow::{Flow, convert};
use super::{Answer, Arithmetic, Charge, Refund, Timestamp, Verdict, div, div_up, saturate, since};

/// A leaky bucket compiled for a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeakyBucket {
    /// Capacity and rate.
    pub flow: Flow,
    /// The longest line, in units, behind which a call may still be put; `None`: any.
    pub longest: Option<u128>,
}

/// What a leaky bucket keeps for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeakyState {
    /// When something was last put in.
    pub last: Timestamp,
    /// What was in line then, in units of 1/`unit` permit.
    pub level: u128,
    /// [`Flow::units_per_permit`] when this was written: a rule may get another rate.
    pub unit: u64,
}

/// The bucket at the instant at which a call reads it.
struct View {
    t: Timestamp,
    level: u128,
}

impl LeakyBucket {
    /// Refuses calls whose [`delay`](Answer::delay_ms) would be longer.
    #[must_use]
    pub fn within_ms(self, longest_delay_ms: u64) -> Self {
        Self { longest: Some(self.flow.accrued_in_ms(longest_delay_ms)), ..self }
    }

    fn view(&self, state: Option<&LeakyState>, now: Timestamp) -> View {
        let Some(state) = state else { return View { t: now, level: 0 } };
        let level = convert(state.level, state.unit, self.flow.units_per_permit, div_up)
            .min(self.flow.full());
        let t = if self.flow.is_from_a_reset_clock(state.last, now) {
            now
        } else {
            now.max(state.last)
        };
        View { t, level: level.saturating_sub(self.flow.accrued(since(t, state.last))) }
    }

    /// The highest level that lets a call of this cost in.
    fn highest(&self, cost: u64) -> Option<u128> {
        let room = self.flow.full().checked_sub(self.flow.amount(cost))?;
        Some(self.longest.map_or(room, |longest| longest.min(room)))
    }
}

impl Arithmetic for LeakyBucket {
    type State = LeakyState;

    fn admits(&self, state: Option<&LeakyState>, now: Timestamp, cost: u64) -> bool {
        cost == 0
            || self.highest(cost).is_some_and(|highest| self.view(state, now).level <= highest)
    }

    fn charge(&self, state: Option<LeakyState>, now: Timestamp, cost: u64) -> LeakyState {
        let View { t, level } = self.view(state.as_ref(), now);
        LeakyState {
            last: t,
            level: level + self.flow.amount(cost),
            unit: self.flow.units_per_permit,
        }
    }

    fn rebase_if_clock_reset(&self, state: &mut LeakyState, now: Timestamp) -> bool {
        self.flow.rebase(&mut state.last, now)
    }

    fn answer(&self, state: Option<&LeakyState>, now: Timestamp, verdict: Verdict) -> Answer {
        let flow = &self.flow;
        let View { t, level } = self.view(state, now);
        let ahead = since(t, now);
        let own = if verdict.charged { flow.amount(verdict.cost) } else { 0 };
        Answer {
            admitted: verdict.admitted,
            limit: flow.capacity,
            remaining: saturate(div(
                flow.full().saturating_sub(level),
                u128::from(flow.units_per_permit),
            )),
            retry_after_ms: if verdict.admitted {
                Some(0)
            } else {
                self.highest(verdict.cost)
                    .map(|highest| flow.millis(ahead, level.saturating_sub(highest)))
            },
            reset_after_ms: flow.millis(ahead, level),
            // The line moves on whatever the clock says, so a clock that is behind adds nothing.
            delay_ms: if verdict.admitted { flow.millis(0, level.saturating_sub(own)) } else { 0 },
        }
    }

    fn charged_at(state: &LeakyState) -> Timestamp {
        state.last
    }

    fn refund(&self, state: &mut LeakyState, now: Timestamp, charge: Charge) -> Refund {
        if state.last < charge.at
            || self.flow.is_from_a_reset_clock(state.last, now)
            || state.unit != self.flow.units_per_permit
        {
            return Refund::Stands;
        }
        let level = if let Some(until) = charge.queued_until {
            if now > until {
                // Its turn has come: what it was charged has leaked.
                return Refund::Stands;
            }
            // Others may have left before it, and the line may be shorter than its place.
            Some(state.level.saturating_sub(self.flow.amount(charge.cost)))
        } else {
            let missing = self.flow.still_missing(charge.cost, since(state.last, charge.at));
            missing.and_then(|missing| state.level.checked_sub(missing))
        };
        let Some(level) = level else { return Refund::Stands };
        state.level = level;
        Refund::Made
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arithmetic, Charge, Flow, Refund, Resolution};
    use super::LeakyBucket;

    /// Ten, and one a second.
    const BUCKET: LeakyBucket =
        LeakyBucket { flow: Flow::new(10, 1, 1_000_000, Resolution::Micros), longest: None };

    /// Callers come and leave at random, as often as they like.
    #[test]
    fn what_runs_is_never_more_than_the_capacity_and_what_has_leaked() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut state, mut now, mut ran) = (None, 0, 0);
            // When each has its turn, and its charge.
            let mut line: Vec<(i64, Charge)> = Vec::new();
            for _ in 0..2_000 {
                now += random.i64(0..700_000);
                line.retain(|(turn, charge)| {
                    ran += if *turn <= now { charge.cost } else { 0 };
                    *turn > now
                });
                if random.bool() {
                    let cost = random.u64(1..4);
                    let answer = super::super::hit(&BUCKET, &mut state, now, cost);
                    if answer.admitted {
                        let delay = i64::try_from(answer.delay_ms).unwrap() * 1_000;
                        let at = LeakyBucket::charged_at(state.as_ref().unwrap());
                        // In its last millisecond it is not certain to be in line.
                        let until = Some(at + (delay - 1_000).max(0));
                        line.push((now + delay, Charge { at, cost, queued_until: until }));
                    }
                } else if !line.is_empty() {
                    let (_, charge) = line.swap_remove(random.usize(0..line.len()));
                    BUCKET.refund(state.as_mut().unwrap(), now, charge);
                }
                let leaked = u64::try_from(now).unwrap();
                assert!(ran * 1_000_000 <= 10 * 1_000_000 + leaked, "{ran} at {now}, seed {seed}");
            }
        }
    }

    /// The state does not tell all rates apart.
    #[test]
    fn after_a_change_of_the_rate_a_refund_is_not_more_than_what_waited() {
        let with = |rate| LeakyBucket {
            flow: Flow::new(10, rate, 1_000_000, Resolution::Micros),
            longest: None,
        };
        for (rate, refund) in [(2, Refund::Stands), (3, Refund::Made)] {
            let full = (0..10).fold(None, |state, _| Some(BUCKET.charge(state, 0, 1)));
            // Another call, at the new rate: most of the line has gone.
            let mut state = with(rate).charge(full, 3_000_000, 1);
            let last = Charge { at: 0, cost: 1, queued_until: Some(9_000_000) };
            assert_eq!(BUCKET.refund(&mut state, 3_000_000, last), refund, "{rate}");
        }
    }

    #[test]
    fn who_leaves_when_the_turn_has_come_is_not_refunded() {
        let full = || (0..10).fold(None, |state, _| Some(BUCKET.charge(state, 0, 1))).unwrap();
        // The turn of the third is after two seconds.
        let third = Charge { at: 0, cost: 1, queued_until: Some(1_999_000) };
        for (now, refund, room) in [
            (1_999_000, Refund::Made, 2),
            (1_999_001, Refund::Stands, 1),
            (8_000_000, Refund::Stands, 8),
        ] {
            let mut state = full();
            assert_eq!(BUCKET.refund(&mut state, now, third), refund, "{now}");
            assert!(BUCKET.admits(Some(&state), now, room), "{now}");
            assert!(!BUCKET.admits(Some(&state), now, room + 1), "{now}");
        }
    }
}
