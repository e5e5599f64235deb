//! What the compiler says about `#[rate_limit]`: programs that must compile and run, in `pass`,
//! and programs that must not, in `fail`, each with the exact errors beside it.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` accepts what is printed now. The texts depend on the
//! compiler, so they belong to the pinned one, and the test says when it runs on another.

#![allow(clippy::expect_used, clippy::print_stderr)]

use std::process::Command;

/// Which compiler that is.
const TOOLCHAIN: &str = include_str!("../../rust-toolchain.toml");

/// Apart from the programs that must compile: without those among them, all of these are checked in
/// one go.
#[test]
fn what_is_wrong_is_said() {
    if is_pinned_compiler() {
        trybuild::TestCases::new().compile_fail("fail/**/*.rs");
    }
}

#[test]
fn what_is_right_compiles_and_runs() {
    if is_pinned_compiler() {
        trybuild::TestCases::new().pass("pass/**/*.rs");
    }
}

/// Whether this is the stable compiler that the workspace is pinned to. Says so when it is not.
fn is_pinned_compiler() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let pinned = TOOLCHAIN.lines().find_map(|line| line.strip_prefix("channel = "));
    let pinned = pinned.expect("rust-toolchain.toml names a channel").trim_matches('"');
    let is_pinned = version.starts_with(&format!("rustc {pinned} "));
    if !is_pinned {
        eprintln!("skipped: what is expected is what another compiler than {version} says");
    }
    is_pinned
}
