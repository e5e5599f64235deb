//! `cargo xtask test`: everything that must hold before a change is good.

use std::process::Command;

use crate::cmd::{capture, cargo, run as must};
use crate::steps::Steps;
use crate::{Result, deny, features, fuzz, install, links, lua, packages, servers, workspace};

/// Brings what is missing on the machine, then runs every check; the cheap ones come first.
pub(crate) fn run() -> Result {
    let mut steps = Steps::new();
    steps.step("system packages", install::missing)?;
    steps.step("servers", || servers::run(None))?;
    steps.step("lock file", lock_file)?;
    steps.step("format", || must(&mut cargo(&["fmt", "--all", "--check"])))?;
    steps.step("lua", lua::lint)?;
    steps.step("clippy", clippy)?;
    steps.step("features", features::check)?;
    steps.step("tests", tests)?;
    steps.step("soak", soak)?;
    // Always the same inputs, whatever else is found elsewhere: half a minute, and as much to build it.
    steps.step("fuzz", || fuzz::run(fuzz::RUNS, Some(1)))?;
    steps.step("doc tests", doc_tests)?;
    steps.step("docs", docs)?;
    steps.step("links", links::check)?;
    steps.step("packages", packages::check)?;
    steps.step("dependencies", deny::run)?;
    steps.summary();
    Ok(())
}

/// Fetches what the lock file names. In the gate a lock file that the manifests have outgrown is an
/// error, and `--locked` would not find it: the cargo that started us has brought it up to date.
fn lock_file() -> Result {
    must(&mut cargo(&["fetch"]))?;
    let mut changed = Command::new("git");
    changed.current_dir(workspace::root()).args(["status", "--porcelain", "Cargo.lock"]);
    if workspace::in_ci() && !capture(&mut changed)?.is_empty() {
        return Err("Cargo.lock is not up to date: commit what cargo makes of it".to_owned());
    }
    Ok(())
}

fn clippy() -> Result {
    let args = "clippy --workspace --all-targets --all-features -- -D warnings";
    must(&mut cargo(&words(args)))
}

/// Unit, integration and UI tests; the examples are built.
fn tests() -> Result {
    must(&mut cargo(&words("test --workspace --all-features --tests --examples --no-fail-fast")))
}

/// A minute of it: about 75 seconds with the start of its servers. Built with the tests already.
fn soak() -> Result {
    must(&mut cargo(&words("test --workspace --all-features --test soak -- --ignored --nocapture")))
}

fn doc_tests() -> Result {
    must(&mut cargo(&words("test --workspace --all-features --doc --no-fail-fast")))
}

fn docs() -> Result {
    let mut doc = cargo(&words("doc --workspace --all-features --no-deps"));
    must(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
