//! What the compiler says about `#[rate_limit]`: programs that must compile and run, in `ui/pass`,
//! and programs that must not, in `ui/fail`, each with the exact errors beside it.
//!
//! `TRYBUILD=overwrite cargo test --test ui` accepts what is printed now. The texts depend on the
//! compiler, so they belong to the pinned one, and the test says when it runs on another.

use std::process::Command;

#[test]
fn the_compiler_says_what_is_wrong() {
    if let Err(other) = pinned_compiler() {
        eprintln!("skipped: the expected errors are those of another compiler than {other}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/**/*.rs");
    cases.compile_fail("tests/ui/fail/**/*.rs");
}

/// Whether this is the stable compiler that the workspace is pinned to.
fn pinned_compiler() -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let pinned = format!("rustc {}.0 ", env!("CARGO_PKG_RUST_VERSION"));
    if version.starts_with(&pinned) { Ok(()) } else { Err(version) }
}
