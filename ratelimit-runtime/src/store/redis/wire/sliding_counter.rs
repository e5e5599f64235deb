//! Sliding counter.

use ratelimit_lua::Script;

use super::Wire;
use super::argument::Argument;
use super::numbers::{Numbers, instant, number};
use crate::algo::{CounterState, Grid, MAX_SUB_WINDOWS, SlidingCounter, Verdict};
use crate::error::StoreError;

impl Wire for SlidingCounter {
    const TAG: &'static str = "sc1";
    const LETTER: u8 = b'c';
    const SCRIPT: &'static Script = &ratelimit_lua::SLIDING_COUNTER;

    fn limit(&self) -> u64 {
        self.limit
    }

    fn encode(&self, argument: &mut Argument) {
        argument.add(self.limit);
        argument.add(self.grid.window);
        argument.add(self.grid.parts.into());
    }

    /// On the grid on which it was counted, which may not be that of the rule.
    fn state(&self, numbers: Numbers<'_>, _: Verdict) -> Result<Option<CounterState>, StoreError> {
        let (last, window, parts, counts) = match numbers.0 {
            [last, window, parts, _sum, counts @ ..] => (last, window, parts, counts),
            [] => return Ok(None),
            _ => return Err(StoreError::Reply),
        };
        let (last, window) = (instant(number(*last)?), number(*window)?);
        let parts = u32::try_from(number(*parts)?).map_err(|_| StoreError::Reply)?;
        if window == 0 || !(1..=MAX_SUB_WINDOWS).contains(&parts) {
            return Err(StoreError::Reply);
        }
        if counts.len() != parts as usize + 1 {
            return Err(StoreError::Reply);
        }
        let newest = i128::from(last) * i128::from(parts) / i128::from(window);
        Ok(Some(CounterState {
            last,
            grid: Grid { window, parts },
            newest: i64::try_from(newest).map_err(|_| StoreError::Reply)?,
            counts: counts.iter().map(|count| u64::from_le_bytes(*count)).collect(),
        }))
    }
}
