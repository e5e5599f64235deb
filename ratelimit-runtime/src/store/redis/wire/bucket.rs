//! What the two buckets have in common.

use super::numbers::{Numbers, instant};
use crate::algo::{Flow, MAX_COUNT, Timestamp};
use crate::error::StoreError;

/// In how many microseconds a bucket recovers in full, rounded down.
pub(super) fn recovery(flow: &Flow) -> u64 {
    let ticks = flow.full() / u128::from(flow.units_per_tick.max(1));
    u64::try_from(ticks).map_or(MAX_COUNT, |ticks| ticks.min(MAX_COUNT))
}

/// An amount, at most the full capacity, as whole permits and units of one more.
pub(super) fn permits(flow: &Flow, amount: u128) -> (u64, u64) {
    let unit = u128::from(flow.units_per_permit.max(1));
    let amount = amount.min(flow.full());
    let rest = u64::try_from(amount % unit).unwrap_or(0);
    (u64::try_from(amount / unit).unwrap_or(flow.capacity), rest)
}

/// The state of a bucket.
pub(super) struct Bucket {
    pub(super) last: Timestamp,
    /// What it holds, in units.
    pub(super) amount: u128,
    /// How many units a permit is.
    pub(super) unit: u64,
}

impl Bucket {
    pub(super) fn read(numbers: Numbers<'_>) -> Result<Option<Self>, StoreError> {
        let Some([last, unit, permits, rest]) = numbers.exactly()? else { return Ok(None) };
        if rest >= unit {
            return Err(StoreError::Reply);
        }
        let amount = u128::from(permits) * u128::from(unit) + u128::from(rest);
        Ok(Some(Self { last: instant(last), amount, unit }))
    }
}
