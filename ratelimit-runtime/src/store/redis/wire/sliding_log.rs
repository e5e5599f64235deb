//! Sliding log.

use ratelimit_lua::Script;

use super::Wire;
use super::argument::Argument;
use super::numbers::{Numbers, instant, number};
use crate::algo::{LogState, SlidingLog, Timestamp, Verdict};
use crate::error::StoreError;

impl Wire for SlidingLog {
    const TAG: &'static str = "sl1";
    const LETTER: u8 = b's';
    const SCRIPT: &'static Script = &ratelimit_lua::SLIDING_LOG;

    fn limit(&self) -> u64 {
        self.limit
    }

    fn encode(&self, argument: &mut Argument) {
        argument.add(self.limit);
        argument.add(self.window);
    }

    /// As much of the log as matters: what has to expire before the call fits, and the rest.
    fn state(
        &self,
        numbers: Numbers<'_>,
        verdict: Verdict,
    ) -> Result<Option<LogState>, StoreError> {
        // The entry that has to expire may have been made before the epoch.
        let (last, sum, blocker) = match *numbers.0 {
            [last, sum, blocker] => (last, sum, Timestamp::from_le_bytes(blocker)),
            [] => return Ok(None),
            _ => return Err(StoreError::Reply),
        };
        let (last, sum) = (instant(number(last)?), number(sum)?);
        let excess = match self.limit.checked_sub(verdict.cost) {
            Some(room) if !verdict.admitted => sum.saturating_sub(room),
            _ => 0,
        };
        Ok(Some(LogState::new([(blocker.min(last), excess), (last, sum - excess)])))
    }
}
