//! The chores of this repository, as `cargo xtask COMMAND`.
//!
//! Plain Rust instead of scripts, so that they work wherever the toolchain does. Nothing here
//! depends on the crates of the workspace: a broken build never takes its own tools away.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program")]

mod api;
mod arrows;
mod attack;
mod bless;
mod ci;
mod cmd;
mod deny;
mod features;
mod fuzz;
mod gate;
mod install;
mod links;
mod lua;
mod packages;
mod roundtrips;
mod servers;
mod setup;
mod soak;
mod steps;
mod vectors;
mod workspace;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::str::FromStr;

use lexopt::prelude::*;

/// What a chore ends with: nothing, or one sentence that says what went wrong.
pub(crate) type Result<T = ()> = std::result::Result<T, String>;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  setup             bring what the tests need to this machine, and say so first
  test [STEP]...    run every check there is, or those that are named
  ci                both, in the way the gate runs it (.ci/run)
  servers [DIR]     unpack Redis 8.0 and Valkey 8.1 into DIR (default: .servers)
  vectors [DIR] [--store arithmetic|embedded|redis://...]
                    run a folder of vector files (default: tests/vectors)
  roundtrips [--times N]
                    what a decision takes at some distance from Redis: docs/reliability.md
  attack [--seconds N] [--only closing|grpc|keys|line]
                    a minute each of what strangers may do to a service: docs/reliability.md
  soak [--seconds N] [--seed N] [--only server|sentinel|cluster]
                    ten minutes of load on Redis while things happen to it: docs/reliability.md
  fuzz [--runs N] [--seed N]
                    try a million inputs on the walk over addresses (libFuzzer)
  bless             rewrite the expected compiler messages and the expansion snapshots
  lint-lua          check the composed Lua scripts with luacheck
  api [--bless]     compare the public surface with docs/api, or write that anew
  links             build the documentation and check that its links lead somewhere
  deny              check the dependencies: bans, licences, sources
  package           check that every published crate packages and builds from its package
";

enum Chore {
    Help,
    Setup,
    Test { steps: Vec<String> },
    Ci,
    Servers { dir: Option<OsString> },
    Vectors { args: Vec<OsString> },
    Roundtrips { args: Vec<OsString> },
    Attack { args: Vec<OsString> },
    Soak { args: Vec<OsString> },
    Fuzz { runs: u64, seed: Option<u32> },
    Bless,
    LintLua,
    Api { bless: bool },
    Links,
    Deny,
    Package,
}

fn main() -> ExitCode {
    if let Some(done) = api::as_rustdoc() {
        return done;
    }
    let done = parse(lexopt::Parser::from_env()).and_then(|chore| match chore {
        Chore::Help => {
            print!("{HELP}");
            Ok(())
        }
        Chore::Setup => setup::run(),
        Chore::Test { steps } => gate::run(&steps),
        Chore::Ci => ci::run(),
        Chore::Servers { dir } => servers::run(dir),
        Chore::Vectors { args } => vectors::run(args),
        Chore::Roundtrips { args } => roundtrips::run(args),
        Chore::Attack { args } => attack::run(args),
        Chore::Soak { args } => soak::run(args),
        Chore::Fuzz { runs, seed } => fuzz::run(runs, seed),
        Chore::Bless => bless::run(),
        Chore::LintLua => lua::lint(),
        Chore::Api { bless: false } => api::check(),
        Chore::Api { bless: true } => api::bless(),
        Chore::Links => links::run_alone(),
        Chore::Deny => deny::run(),
        Chore::Package => packages::check(),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut parser: lexopt::Parser) -> Result<Chore> {
    let Some(arg) = parser.next().map_err(|e| usage(&e))? else { return Ok(Chore::Help) };
    let name = match arg {
        Short('h') | Long("help") => return Ok(Chore::Help),
        Value(name) => name,
        other => return Err(usage(&other.unexpected())),
    };
    let chore = match name.to_string_lossy().as_ref() {
        "help" => Chore::Help,
        "setup" => Chore::Setup,
        "test" => Chore::Test { steps: steps(&mut parser)? },
        "ci" => Chore::Ci,
        "servers" => Chore::Servers { dir: dir(&mut parser)? },
        // The runner of the vectors reads its own arguments.
        "vectors" => Chore::Vectors { args: rest(&mut parser)? },
        // And so do these.
        "roundtrips" => Chore::Roundtrips { args: rest(&mut parser)? },
        "attack" => Chore::Attack { args: rest(&mut parser)? },
        "soak" => Chore::Soak { args: rest(&mut parser)? },
        "fuzz" => fuzz_args(&mut parser)?,
        "bless" => Chore::Bless,
        "lint-lua" => Chore::LintLua,
        "api" => api_args(&mut parser)?,
        "links" => Chore::Links,
        "deny" => Chore::Deny,
        "package" => Chore::Package,
        unknown => return Err(format!("there is no command `{unknown}`: see `cargo xtask help`")),
    };
    match parser.next().map_err(|e| usage(&e))? {
        None => Ok(chore),
        Some(Short('h') | Long("help")) => Ok(Chore::Help),
        Some(extra) => Err(usage(&extra.unexpected())),
    }
}

fn api_args(parser: &mut lexopt::Parser) -> Result<Chore> {
    match parser.next().map_err(|e| usage(&e))? {
        None => Ok(Chore::Api { bless: false }),
        Some(Long("bless")) => Ok(Chore::Api { bless: true }),
        Some(extra) => Err(usage(&extra.unexpected())),
    }
}

/// All that is left.
fn rest(parser: &mut lexopt::Parser) -> Result<Vec<OsString>> {
    Ok(parser.raw_args().map_err(|e| usage(&e))?.collect())
}

/// The names of steps.
fn steps(parser: &mut lexopt::Parser) -> Result<Vec<String>> {
    let names = rest(parser)?.into_iter().map(OsString::into_string);
    names
        .collect::<std::result::Result<_, _>>()
        .map_err(|name| format!("{} is no step", name.display()))
}

fn fuzz_args(parser: &mut lexopt::Parser) -> Result<Chore> {
    let (mut runs, mut seed) = (fuzz::RUNS, None);
    while let Some(arg) = parser.next().map_err(|e| usage(&e))? {
        match arg {
            Short('h') | Long("help") => return Ok(Chore::Help),
            Long("runs") => runs = number(parser)?,
            Long("seed") => seed = Some(number(parser)?),
            other => return Err(usage(&other.unexpected())),
        }
    }
    Ok(Chore::Fuzz { runs, seed })
}

fn number<N: FromStr<Err: Error + Send + Sync + 'static>>(
    parser: &mut lexopt::Parser,
) -> Result<N> {
    parser.value().and_then(|value| value.parse()).map_err(|e| usage(&e))
}

fn dir(parser: &mut lexopt::Parser) -> Result<Option<OsString>> {
    match parser.next().map_err(|e| usage(&e))? {
        None => Ok(None),
        Some(Value(dir)) => Ok(Some(dir)),
        Some(other) => Err(usage(&other.unexpected())),
    }
}

fn usage(error: &lexopt::Error) -> String {
    format!("{error}: see `cargo xtask help`")
}
