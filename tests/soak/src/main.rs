//! Limiters of four processes under load, on one server, under Sentinel and on a Cluster, while what
//! happens to Redis on bad nights happens to it every few seconds.
//!
//! This process starts the servers, hurts them, and judges; the nodes are the same program started
//! again, and only call and report. Whatever a limiter promises is looked at in every call that
//! they report. `docs/reliability.md` shows what this prints, and says what it means.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a test: a panic is a failed test, and the figures are small"
)]

mod call;
mod crew;
mod expiry;
mod faults;
mod judge;
mod lateness;
mod load;
mod machine;
mod node;
mod now;
mod phase;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use fastrand::Rng;
use lexopt::prelude::*;
use test_support::Link;

use self::crew::Crew;
use self::faults::{OneServer, Stage, UnderSentinel, WholeCluster};
use self::judge::Verdict;
use self::phase::Phase;

/// Failures that are told one by one: the first say as much as all.
const SHOWN: usize = 20;

/// What to do.
struct Options {
    lasts: Duration,
    seed: u64,
    /// The name of the only phase, which lasts as long as the three would.
    only: Option<String>,
}

fn main() -> ExitCode {
    if let Some(link) = Link::attach() {
        node::run(link);
        return ExitCode::SUCCESS;
    }
    let options = match options(lexopt::Parser::from_env()) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("soak: {error} (soak [--seconds N] [--seed N] [--only PHASE])");
            return ExitCode::FAILURE;
        }
    };
    println!("soak: {:?}, seed {}", options.lasts, options.seed);
    let failures = run(&options);
    for failure in failures.iter().take(SHOWN) {
        println!("FAILED: {failure}");
    }
    if failures.len() > SHOWN {
        println!("FAILED: and {} more", failures.len() - SHOWN);
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut parser: lexopt::Parser) -> Result<Options, lexopt::Error> {
    let lasts = Duration::from_mins(10);
    let mut options = Options { lasts, seed: fastrand::u64(..1_000_000), only: None };
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seconds") => options.lasts = Duration::from_secs(parser.value()?.parse()?),
            Long("only") => options.only = Some(parser.value()?.string()?),
            Long("seed") => options.seed = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

impl Options {
    fn includes<S: Stage>(&self) -> bool {
        self.only.as_ref().is_none_or(|only| only == S::NAME)
    }
}

/// The three phases, one after the other, with the same processes; what is not as promised.
fn run(options: &Options) -> Vec<String> {
    let mut rng = Rng::with_seed(options.seed);
    let lasts = if options.only.is_some() { options.lasts } else { options.lasts / 3 };
    let mut crew = Crew::start(options.lasts / 4);
    let mut phases = Vec::new();
    if options.includes::<OneServer>() {
        phases.push(phase::run(OneServer::start(), &mut crew, lasts, &mut rng));
    }
    if options.includes::<UnderSentinel>() {
        phases.push(phase::run(UnderSentinel::start(), &mut crew, lasts, &mut rng));
    }
    if options.includes::<WholeCluster>() {
        phases.push(phase::run(WholeCluster::start(), &mut crew, lasts, &mut rng));
    }
    let figures = crew.end();
    let verdicts: Vec<Verdict> = phases.iter().map(judge::phase).collect();
    table::print(&phases, &verdicts, &figures);
    let loads = phases.iter().zip(&verdicts);
    let mut failures: Vec<String> =
        loads.flat_map(|(phase, verdict)| judge::load(phase, verdict)).collect();
    failures.extend(verdicts.into_iter().flat_map(|verdict| verdict.failures));
    failures.extend(phases.iter().flat_map(Phase::failures));
    failures.extend(judge::figures(&figures));
    failures
}
