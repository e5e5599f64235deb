//! Attacks of strangers on a service with limits, and what its honest callers lose by them: nothing,
//! or the run fails. `cargo xtask attack` runs each for a minute; the tests run some seconds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: a panic is a failed test"
)]

mod client;
mod closing;
mod flood;
mod grpc;
mod keys;
mod large;
mod line;
mod service;

use std::process::ExitCode;
use std::time::Duration;

use lexopt::prelude::*;

/// What became of the honest callers.
#[derive(Debug, Default)]
pub(crate) struct Honest {
    calls: usize,
    /// What some of them lost.
    lost: Vec<String>,
}

impl Honest {
    /// One call, and what it lost, if it did.
    pub(crate) fn count(&mut self, lost: Option<String>) {
        self.calls += 1;
        self.lost.extend(lost);
    }
}

/// What was done, and what became of it.
pub(crate) struct Report {
    attack: String,
    honest: Honest,
}

/// Losses that are told one by one: the first say as much as all.
const SHOWN: usize = 5;

const ATTACKS: [&str; 6] = ["closing", "flood", "grpc", "keys", "large", "line"];

struct Options {
    lasts: Duration,
    /// The name of the only attack.
    only: Option<String>,
}

fn main() -> ExitCode {
    let Options { lasts, only } = match options(lexopt::Parser::from_env()) {
        Ok(options) => options,
        Err(error) => {
            let names = ATTACKS.join("|");
            eprintln!("attack: {error} (attack [--seconds N] [--only {names}])");
            return ExitCode::FAILURE;
        }
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let mut code = ExitCode::SUCCESS;
    for name in ATTACKS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let reports = runtime.block_on(async {
            match name {
                "closing" => closing::run(lasts).await,
                "flood" => vec![flood::run(lasts).await],
                "grpc" => vec![grpc::run(lasts).await],
                "keys" => vec![keys::run(lasts).await],
                "large" => vec![large::run(lasts).await],
                _ => vec![line::run(lasts).await],
            }
        });
        for Report { attack, honest: Honest { calls, lost } } in reports {
            println!("{name}: {attack}. Honest calls: {calls}, lost: {}.", lost.len());
            for lost in lost.iter().take(SHOWN) {
                println!("  LOST: {lost}");
            }
            if calls == 0 || !lost.is_empty() {
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn options(mut parser: lexopt::Parser) -> Result<Options, lexopt::Error> {
    let mut options = Options { lasts: Duration::from_mins(1), only: None };
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seconds") => options.lasts = Duration::from_secs(parser.value()?.parse()?),
            Long("only") => options.only = Some(parser.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}
