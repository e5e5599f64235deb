//! `cargo deny`: bans, licences and sources, as `deny.toml` says.

use std::path::PathBuf;
use std::process::Command;

use crate::cmd::{cargo, find, run as must};
use crate::{Result, workspace};

/// The version that is installed when there is none.
const VERSION: &str = "0.20.2";

/// Checks the dependencies. Security advisories are left out: the gate must answer the same today and
/// in a year.
pub(crate) fn run() -> Result {
    let Some(tool) = tool() else {
        return Err("cargo-deny is missing: `cargo xtask setup` builds it".to_owned());
    };
    let mut command = Command::new(tool);
    command.args(["--all-features", "check", "bans", "licenses", "sources"]);
    must(command.current_dir(workspace::root()))
}

/// The tool of this machine, or our own.
fn tool() -> Option<PathBuf> {
    let own = || Some(tools().join("bin/cargo-deny")).filter(|own| own.exists());
    find("cargo-deny").or_else(own)
}

/// What would be built.
pub(crate) fn plan() -> Option<String> {
    let build = || format!("build cargo-deny {VERSION} in {}", tools().display());
    tool().is_none().then(build)
}

/// Builds the tool among our own build products, for us alone: unoptimized, which takes a third of
/// the time and is as fast for the little that it has to do.
pub(crate) fn install() -> Result {
    println!("building cargo-deny {VERSION} (once)");
    let mut command = cargo(&["install", "cargo-deny", "--locked", "--no-default-features"]);
    command
        .args(["--quiet", "--version", VERSION, "--root"])
        .arg(tools())
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    must(&mut command)
}

fn tools() -> PathBuf {
    workspace::target().join("tools")
}
