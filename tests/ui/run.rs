//! What the compiler says about `#[rate_limit]`: programs that must compile and run, in `pass`,
//! and programs that must not, in `fail`, each with the exact errors beside it.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` accepts what is printed now. The texts depend on the
//! compiler, so they belong to the pinned one, and on another the test fails and says so.

#![allow(clippy::expect_used)]

use std::process::Command;

/// Which compiler that is.
const TOOLCHAIN: &str = include_str!("../../rust-toolchain.toml");

/// Apart from the programs that must compile: without those among them, all of these are checked in
/// one go.
#[test]
fn what_is_wrong_is_said() {
    must_be_the_pinned_compiler();
    trybuild::TestCases::new().compile_fail("fail/**/*.rs");
}

#[test]
fn what_is_right_compiles_and_runs() {
    must_be_the_pinned_compiler();
    trybuild::TestCases::new().pass("pass/**/*.rs");
}

/// Fails on any other compiler: a test that did not run must not look green.
fn must_be_the_pinned_compiler() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let pinned = TOOLCHAIN.lines().find_map(|line| line.strip_prefix("channel = "));
    let pinned = pinned.expect("rust-toolchain.toml names a channel").trim_matches('"');
    assert!(
        version.starts_with(&format!("rustc {pinned} ")),
        "this is {version}, and the expected messages are those of {pinned}: run these tests with \
         `cargo +{pinned} test -p ui-tests`"
    );
}
