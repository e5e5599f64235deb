//! Rewrites what tests compare with: expansion snapshots, answers of the key language, and the
//! compiler's messages.

use crate::Result;
use crate::cmd::{cargo, run as must};

/// Rewrites the files. A blessed file is a reviewed file: the last line says how.
pub(crate) fn run() -> Result {
    let mut snapshots = cargo(&["test", "-p", "ratelimit-macros", "--lib"]);
    must(snapshots.env("BLESS", "1").env("KEY_TESTS", "overwrite"))?;
    let mut ui = cargo(&["test", "-p", "ui-tests"]);
    must(ui.env("TRYBUILD", "overwrite"))?;
    println!("read what changed with `git diff` before you commit it");
    Ok(())
}
