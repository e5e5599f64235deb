//! `cargo xtask vectors [DIR] [--store STORE]...`: runs a folder of vector files.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use lexopt::prelude::*;
use ratelimit_runtime::__private::algo::Resolution;
use vector_runner::{Arithmetic, Limited, Listing, Subject, read, run};

const HELP: &str = "\
Usage: cargo xtask vectors [DIR] [--store STORE]...

Runs every vector file (*.json) of DIR, by default the repository's own, and prints each field that
is not as expected. The format is described in tests/vectors/README.md.

STORE is one of
  arithmetic        the algorithms alone, in nanoseconds and in microseconds
  embedded          the store in this process
  redis://...       a Redis or Valkey, by its URL; redis+sentinel:// and redis+cluster:// as well
and without one, arithmetic and embedded are run. Each store decides every scenario twice: by single
checks, and by lists of two checks. A cluster decides them a third time, by lists in one slot.
";

fn main() -> ExitCode {
    match go() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(sentence) => {
            eprintln!("vectors: {sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all is as expected.
fn go() -> Result<bool, String> {
    let Some(Args { dir, stores }) = parse()? else {
        print!("{HELP}");
        return Ok(true);
    };
    let scenarios = read(&dir)?;
    let mut passed = true;
    for store in &stores {
        for mut subject in subjects(store)? {
            let report = run(&scenarios, subject.as_mut());
            println!("{report}");
            passed &= report.passed();
        }
    }
    Ok(passed)
}

struct Args {
    dir: PathBuf,
    stores: Vec<String>,
}

/// The arguments; `None` when help is wanted.
fn parse() -> Result<Option<Args>, String> {
    let mut parser = lexopt::Parser::from_env();
    let (mut dir, mut stores) = (None, Vec::new());
    let usage = |error: lexopt::Error| format!("{error}: see `cargo xtask vectors --help`");
    while let Some(arg) = parser.next().map_err(usage)? {
        match arg {
            Short('h') | Long("help") => return Ok(None),
            Long("store") => stores.push(parser.value().and_then(ValueExt::string).map_err(usage)?),
            Value(value) if dir.is_none() => dir = Some(PathBuf::from(value)),
            other => return Err(usage(other.unexpected())),
        }
    }
    if stores.is_empty() {
        stores = vec!["arithmetic".to_owned(), "embedded".to_owned()];
    }
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    Ok(Some(Args { dir: dir.unwrap_or_else(own), stores }))
}

fn subjects(store: &str) -> Result<Vec<Box<dyn Subject>>, String> {
    let listings = [Listing::Alone, Listing::Accompanied];
    match store {
        "arithmetic" => Ok([Resolution::Nanos, Resolution::Micros]
            .map(|resolution| Box::new(Arithmetic::new(resolution)) as Box<dyn Subject>)
            .into()),
        "embedded" => Ok(listings
            .map(|listing| Box::new(Limited::embedded(listing)) as Box<dyn Subject>)
            .into()),
        url if url.contains("://") => listings
            .into_iter()
            .chain(url.contains("+cluster://").then_some(Listing::Grouped))
            .map(|listing| {
                Ok(Box::new(Limited::redis(url, url, listing, &this_run())?) as Box<dyn Subject>)
            })
            .collect(),
        other => Err(format!(
            "there is no store `{other}`: it is arithmetic, embedded or the URL of a Redis"
        )),
    }
}

/// A name that no other run has on the same server.
fn this_run() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("vectors-{}-{}", std::process::id(), now.as_nanos())
}
