//! The constant rate of the two buckets, without fractions.

use super::{MAX_COUNT, Resolution, Timestamp, div_up, saturate, since};

/// A capacity and a rate. Amounts are counted in units so small that a tick moves a whole number of
/// them and a permit is a whole number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// How many permits fit in.
    pub capacity: u64,
    /// How many units one tick brings.
    pub units_per_tick: u64,
    /// How many units one permit is.
    pub units_per_permit: u64,
    /// Ticks per millisecond.
    per_ms: u64,
}

impl Flow {
    /// `permits` per `period_us` microseconds; both at least 1.
    pub const fn new(capacity: u64, permits: u64, period_us: u64, resolution: Resolution) -> Self {
        let per_ms = resolution.per_ms();
        // At most 2^52 µs are less than 2^62 ns. A longer period, which no rule can have, stays
        // exact in microseconds.
        let ticks = period_us.saturating_mul(per_ms / 1_000);
        let divisor = gcd(permits, ticks);
        Self {
            capacity,
            units_per_tick: permits / divisor,
            units_per_permit: ticks / divisor,
            per_ms,
        }
    }

    /// The full capacity in units.
    pub fn full(&self) -> u128 {
        self.amount(self.capacity)
    }

    /// `permits` in units.
    pub fn amount(&self, permits: u64) -> u128 {
        u128::from(permits) * u128::from(self.units_per_permit)
    }

    /// What `ticks` bring, in units.
    pub(super) fn accrued(&self, ticks: u64) -> u128 {
        u128::from(ticks) * u128::from(self.units_per_tick)
    }

    /// Whether a state was written by a clock that has since been reset: it is further ahead than a full
    /// recovery.
    pub(super) fn is_from_a_reset_clock(&self, last: Timestamp, now: Timestamp) -> bool {
        self.accrued(since(last, now)) > self.full()
    }

    /// Moves the instant of a state to this clock, if it [is of another one](Self::is_from_a_reset_clock).
    pub(super) fn rebase(&self, last: &mut Timestamp, now: Timestamp) -> bool {
        let is_reset = self.is_from_a_reset_clock(*last, now);
        if is_reset {
            *last = now;
        }
        is_reset
    }

    /// What of a charge is certain to be missing when so many ticks have passed until the latest one,
    /// in units; `None` if less than nothing.
    ///
    /// Had the call not been charged, the bucket might have been full (or empty) since, and what
    /// moved would have been lost. What moves later fits in or not by itself.
    pub(super) fn still_missing(&self, cost: u64, ticks: u64) -> Option<u128> {
        self.amount(cost).checked_sub(self.accrued(ticks))
    }

    /// Whole milliseconds until `ticks` have passed and then `units` have moved, rounded up.
    pub(super) fn millis(&self, ticks: u64, units: u128) -> u64 {
        let per_ms = u128::from(self.units_per_tick) * u128::from(self.per_ms);
        saturate(div_up(self.accrued(ticks) + units, per_ms))
    }

    /// How many units come in `ms` milliseconds.
    pub(super) fn accrued_in_ms(&self, ms: u64) -> u128 {
        // Below 2^53 * 2^20 * 2^53.
        u128::from(ms.min(MAX_COUNT)) * u128::from(self.per_ms) * u128::from(self.units_per_tick)
    }
}

/// An amount in units of 1/`from` permit, as whole permits and what is left of one, in units of
/// 1/`to` permit. The rest may round: `round` divides.
pub(super) fn convert(
    amount: u128,
    from: u64,
    to: u64,
    round: impl Fn(u128, u128) -> u128,
) -> u128 {
    if from == to || from == 0 {
        return amount;
    }
    let (from, to) = (u128::from(from), u128::from(to));
    (amount / from) * to + round((amount % from) * to, from)
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only two zeros have no divisor, and a rule with them is refused before it is used.
    if a == 0 { 1 } else { a }
}
