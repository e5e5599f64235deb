//! What the gate runs, run here.

use std::process::Command;

use crate::cmd::run as must;
use crate::{Result, workspace};

/// Runs `.ci/run` as the gate does.
pub(crate) fn run() -> Result {
    let script = workspace::root().join(".ci/run");
    must(Command::new("bash").arg(script).env("CI", "true"))
}
