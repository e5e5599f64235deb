//! The end of a test run on a machine that cannot do it.

use std::io::{self, Write};
use std::process;
use std::sync::Mutex;

/// Says once what is missing and what brings it, and ends the process.
///
/// Ends it instead of panicking: every test of the binary would fail with the same words, and a
/// person should read one sentence. Never skips: a test that did not run must not look green.
pub(crate) fn end(what: &str) -> ! {
    static FIRST: Mutex<()> = Mutex::new(());
    // Never let go of: tests that run beside this one lack the same, and wait here for the end.
    let _first = FIRST.lock();
    let sentence =
        format!("\n{what}: run `cargo xtask setup`, which brings what the tests need\n\n");
    // Not `eprint!`, which the test harness would hold back.
    let _ = io::stderr().lock().write_all(sentence.as_bytes());
    process::exit(1);
}
