//! Fixed window.

use ratelimit_lua::Script;

use super::Wire;
use super::argument::Argument;
use super::numbers::{Numbers, instant};
use crate::algo::{FixedWindow, Verdict, WindowState};
use crate::error::StoreError;

impl Wire for FixedWindow {
    const TAG: &'static str = "fw1";
    const LETTER: u8 = b'f';
    const SCRIPT: &'static Script = &ratelimit_lua::FIXED_WINDOW;

    fn limit(&self) -> u64 {
        self.limit
    }

    fn encode(&self, argument: &mut Argument) {
        argument.add(self.limit);
        argument.add(self.window);
    }

    fn state(&self, numbers: Numbers<'_>, _: Verdict) -> Result<Option<WindowState>, StoreError> {
        let Some([last, age, count]) = numbers.exactly()? else { return Ok(None) };
        let last = instant(last);
        Ok(Some(WindowState { start: last - instant(age), last, count }))
    }
}
