//! Clocks that can be moved while a process runs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::preload;
use crate::scratch::Scratch;

/// Moves the clocks of the processes that are started with it. Their monotonic clock goes on
/// undisturbed, like the one of a machine whose time is set or that sleeps.
#[derive(Debug)]
pub struct FakeClock {
    scratch: Scratch,
}

impl FakeClock {
    /// A clock that is right, for now.
    pub fn new() -> Self {
        let clock = Self { scratch: Scratch::new() };
        clock.shift_ms(0);
        clock
    }

    /// From now on the wall clock is `ms` milliseconds ahead of the real one (or behind).
    pub fn shift_ms(&self, ms: i64) {
        self.set(ms, 0);
    }

    /// The machine has slept for `ms` milliseconds: its wall clock is ahead by that, and so is the
    /// clock that counts from the boot.
    pub fn sleep_ms(&self, ms: i64) {
        self.set(ms, ms);
    }

    fn set(&self, wall: i64, boot: i64) {
        // Written aside and renamed: a process reads it at every look at the clock.
        let aside = self.scratch.path().join("aside");
        fs::write(&aside, format!("{wall} {boot}")).unwrap();
        fs::rename(aside, self.file()).unwrap();
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        preload::apply(command);
        command.env("RATELIMIT_TEST_CLOCK", self.file());
    }

    fn file(&self) -> PathBuf {
        self.scratch.path().join("clock")
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}
