//! Hands its arguments to the runner of the vectors, which the tests use too.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::{Result, workspace};

/// Becomes the runner: its words and its exit status are the user's.
pub(crate) fn run(args: Vec<OsString>) -> Result {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Not from the root: a folder is named from where the user stands.
    command.args(["run", "--quiet", "--package", "vector-runner", "--manifest-path"]);
    command.arg(workspace::root().join("Cargo.toml")).arg("--").args(args);
    Err(format!("cannot run the vectors: {}", command.exec()))
}
