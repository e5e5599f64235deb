//! Running other programs: every failure becomes one sentence that names the command.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{Result, workspace};

/// The cargo that runs us, at the root of the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace::root()).args(args);
    command
}

/// Runs a command, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result {
    let status = command.stdin(Stdio::null()).status().map_err(|e| not_started(command, &e))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", shown(command))) }
}

/// Runs a command and gives what it wrote; when it fails, the last line of its complaint is told.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } =
        command.stdin(Stdio::null()).output().map_err(|e| not_started(command, &e))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&stderr);
    let last = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    Err(format!("`{}` failed ({status}): {last}", shown(command)))
}

/// A program that others go before, which gets little more than what processor time they leave.
pub(crate) fn nice(program: &Path) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(program).current_dir(workspace::root());
    command
}

/// Whether a program of this name can be started.
pub(crate) fn exists(program: &str) -> bool {
    find(program).is_some()
}

/// Where `PATH` finds a program.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

fn not_started(command: &Command, error: &io::Error) -> String {
    format!("cannot run `{}`: {error}", shown(command))
}

/// The command as a person would type it; good enough to read, not to paste.
fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let words = command.get_args().map(|arg| arg.to_string_lossy());
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}
