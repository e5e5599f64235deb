//! `cargo xtask fuzz`: libFuzzer over the walk over addresses.
//!
//! Does what `cargo fuzz` would do without its sanitizers, which need a nightly compiler: nothing here is
//! unsafe code. So it works with the compiler that everything else is built with.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::cmd::{capture, cargo, run as must};
use crate::{Result, workspace};

/// How many inputs are tried if nobody says.
pub(crate) const RUNS: u64 = 1_000_000;

/// The one target, its folder of inputs, and its dictionary.
const TARGET: &str = "address";

/// What tells libFuzzer which inputs do something new. In one piece, or code would not be inlined
/// across pieces; with the checks of a debug build, which find what wraps around.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
];

/// Tries so many inputs; the same ones for the same seed, from what is in the repository alone.
pub(crate) fn run(runs: u64, seed: Option<u32>) -> Result {
    let target = workspace::target().join("fuzz");
    let program = build(&target)?;
    let package = workspace::root().join("tests/fuzz");
    // What it finds interesting is written to the first folder, which is not to grow for ever.
    let found = target.join("found");
    let _ = fs::remove_dir_all(&found);
    fs::create_dir_all(&found).map_err(|e| format!("cannot make {}: {e}", found.display()))?;

    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command.arg(format!("-runs={runs}"));
    // 0 is a new one each time.
    command.arg(format!("-seed={}", seed.unwrap_or(0)));
    command.arg(format!("-dict={}", package.join(TARGET).with_extension("dict").display()));
    command.arg(format!("-artifact_prefix={}/", target.display()));
    command.args(["-max_len=512", "-timeout=5", "-verbosity=0", "-print_final_stats=1"]);
    command.arg(&found).arg(package.join("corpus").join(TARGET));
    must(&mut command).map_err(|why| {
        format!(
            "{why}: the input is in the file that it names; in tests/fuzz/corpus/{TARGET}, it is a \
             test of `cargo test -p fuzz`"
        )
    })
}

/// Builds the target; in a folder of its own, since everything in it is instrumented.
fn build(target: &PathBuf) -> Result<PathBuf> {
    let host = host()?;
    let mut build = cargo(&["build", "--quiet", "--release", "--package", "fuzz", "--bin", TARGET]);
    // For a named machine, or build scripts and macros would be instrumented too.
    build.args(["--target", &host, "--target-dir"]).arg(target);
    build.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    must(&mut build)?;
    Ok(target.join(host).join("release").join(TARGET))
}

/// What the compiler calls this machine.
fn host() -> Result<String> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let said = capture(rustc.current_dir(workspace::root()).arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "the compiler does not say what machine this is".to_owned())
}
