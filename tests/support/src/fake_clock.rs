//! A wall clock that can be moved while a process runs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::lacking;
use crate::scratch::Scratch;

/// Moves the wall clock of the processes that are started with it; their monotonic clock, like the
/// one of a machine whose time is set, goes on undisturbed.
#[derive(Debug)]
pub struct FakeClock {
    library: PathBuf,
    scratch: Scratch,
}

impl FakeClock {
    /// A clock that is right, for now.
    pub fn new() -> Self {
        let clock = Self { library: library(), scratch: Scratch::new() };
        clock.shift_ms(0);
        clock
    }

    /// From now on the wall clock is so many milliseconds ahead of the real one (or behind).
    pub fn shift_ms(&self, ms: i64) {
        let sign = if ms < 0 { '-' } else { '+' };
        let (seconds, rest) = (ms.unsigned_abs() / 1000, ms.unsigned_abs() % 1000);
        // Written aside and renamed: a process reads it at every look at the clock.
        let aside = self.scratch.path().join("aside");
        fs::write(&aside, format!("{sign}{seconds}.{rest:03}")).unwrap();
        fs::rename(aside, self.file()).unwrap();
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1"); // its name before libfaketime 0.9.9
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

/// The library, for processes with threads.
fn library() -> PathBuf {
    let triplets = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut libraries = triplets.map(|dir| dir.path().join("faketime/libfaketimeMT.so.1"));
    libraries
        .find(|library| library.exists())
        .unwrap_or_else(|| lacking::end("the tests need libfaketime, which is not installed"))
}
