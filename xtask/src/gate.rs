//! `cargo xtask test`: everything that must hold before a change is good.

use std::num::NonZeroUsize;
use std::process::Command;
use std::{env, fs, thread};

use crate::cmd::{capture, cargo, nice, run as must};
use crate::steps::{Step, Steps, When};
use crate::{Result, api, arrows, deny, features, fuzz, links, lua, packages, setup, workspace};

/// Every check there is; the cheap ones come first. Tests wait for clocks and servers most of the time, so what
/// needs nothing but a processor is done meanwhile, with what they leave of it.
const STEPS: &[Step] = &[
    Step { name: "set-up", when: When::First, work: setup::check },
    Step { name: "lock-file", when: When::First, work: lock_file },
    Step { name: "format", when: When::First, work: format },
    Step { name: "arrows", when: When::First, work: arrows::check },
    Step { name: "lua", when: When::First, work: lua::lint },
    Step { name: "dependencies", when: When::First, work: deny::run },
    Step { name: "clippy", when: When::First, work: clippy },
    Step { name: "test-build", when: When::First, work: build_tests },
    // These two build in folders of their own: cargo lets one process at a time into a folder, and now it is to look at
    // the tests. Fuzzing takes always the same inputs here, whatever else is found elsewhere.
    Step { name: "packages", when: When::Beside, work: packages::check },
    Step { name: "fuzz", when: When::Beside, work: || fuzz::run(fuzz::RUNS, Some(1)) },
    Step { name: "docs", when: When::Beside, work: docs },
    Step { name: "api", when: When::Beside, work: api::check },
    Step { name: "links", when: When::Beside, work: links::check },
    Step { name: "features", when: When::Beside, work: features::check },
    Step { name: "doc-tests", when: When::Beside, work: doc_tests },
    Step { name: "tests", when: When::Tests, work: tests },
    // Here something may depend on time, so it does not run beside the tests.
    Step { name: "lightest", when: When::Last, work: features::test_lightest },
    // It measures how late calls are, so nothing else runs.
    Step { name: "soak", when: When::Last, work: soak },
];

/// Runs all steps, or those that are named.
pub(crate) fn run(names: &[String]) -> Result {
    if let Some(unknown) = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("there is no step `{unknown}`, only {}", known.join(", ")));
    }
    let mut steps = Steps::new();
    if !names.is_empty() {
        for step in STEPS.iter().filter(|step| names.iter().any(|name| name == step.name)) {
            steps.step(step)?;
        }
        return Ok(());
    }
    for step in STEPS.iter().filter(|step| step.when == When::First) {
        steps.step(step)?;
    }
    let beside = thread::spawn(beside);
    let tested =
        STEPS.iter().filter(|step| step.when == When::Tests).try_for_each(|step| steps.step(step));
    if tested.is_err() {
        println!("waiting for what runs beside the tests");
    }
    let others = beside.join().map_err(|_| "a step beside the tests panicked".to_owned())?;
    tested?;
    steps.add(others?);
    for step in STEPS.iter().filter(|step| step.when == When::Last) {
        steps.step(step)?;
    }
    steps.summary();
    Ok(())
}

/// Runs what can be done beside the tests, one after the other, each in a process that has only what processor time
/// others leave, and its output in a file until it is done.
fn beside() -> Result<Steps> {
    let mut steps = Steps::new();
    let folder = workspace::target().join("xtask");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let own = env::current_exe().map_err(|e| format!("cannot find xtask itself: {e}"))?;
    for step in STEPS.iter().filter(|step| step.when == When::Beside) {
        let file = folder.join(step.name).with_extension("txt");
        steps.step_beside(step.name, &file, nice(&own).args(["test", step.name]))?;
    }
    Ok(steps)
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

fn format() -> Result {
    must(&mut cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result {
    let args = "clippy --workspace --all-targets --all-features -- -D warnings";
    must(&mut cargo(&words(args)))
}

/// What is tested, and with which features: the same words wherever tests are built, or they are built twice.
const TESTED: &str = "test --workspace --all-features --tests --examples";

fn build_tests() -> Result {
    must(cargo(&words(TESTED)).arg("--no-run"))
}

/// Unit, integration and UI tests; the examples are built.
fn tests() -> Result {
    let mut command = cargo(&words(TESTED));
    command.arg("--no-fail-fast");
    if env::var_os("RUST_TEST_THREADS").is_none() {
        // Half of the tests wait, for a clock, a server or others to be done with the machine.
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        command.env("RUST_TEST_THREADS", (2 * processors).to_string());
    }
    must(&mut command)
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
