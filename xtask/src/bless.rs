//! Rewrites what the tests compare with: expected compiler messages and expansion snapshots.

use crate::Result;
use crate::cmd::{cargo, run as must};

/// Rewrites the files and says how to look at them: a blessed file is a reviewed file.
pub(crate) fn run() -> Result {
    let mut ui = cargo(&["test", "-p", "ratelimit-kit", "--all-features", "--test", "ui"]);
    must(ui.env("TRYBUILD", "overwrite"))?;
    let mut snapshots = cargo(&["test", "-p", "ratelimit-macros", "--lib"]);
    must(snapshots.env("UPDATE_EXPECT", "1").env("BLESS", "1"))?;
    println!("read what changed with `git diff` before you commit it");
    Ok(())
}
