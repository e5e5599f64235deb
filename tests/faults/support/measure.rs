//! How long things may take.
//!
//! A call that comes back in time does so on a machine that has time for it. One that is too busy
//! for a thread to run when it could makes anything late, so a run in which something was late is
//! made again. What is late because of us is late in every run.

use std::fmt::{Debug, Display};

use test_stage::machine;

/// How often a run is made.
const ATTEMPTS: usize = 5;

/// Something took longer than it may, or more often.
#[derive(Debug)]
pub(crate) struct Late(String);

/// Fails a run in which there was more than there may be.
pub(crate) fn at_most<T: PartialOrd + Copy + Debug>(
    most: T,
    what: impl Display,
    was: T,
) -> Result<(), Late> {
    if was <= most { Ok(()) } else { Err(Late(format!("{what}: {was:?}, not {most:?}"))) }
}

/// Makes a run while no test is loud, again if something was late.
#[track_caller]
pub(crate) fn measured(run: impl Fn() -> Result<(), Late>) {
    let mut late = Vec::new();
    for _ in 0..ATTEMPTS {
        let _quiet = machine::quiet();
        match run() {
            Ok(()) => return,
            Err(Late(what)) => late.push(what),
        }
    }
    panic!("late in every run: {late:#?}");
}

/// What a run in another process said: nothing but `in time`, or what was late.
pub(crate) fn relayed(line: &str) -> Result<(), Late> {
    if line.starts_with(IN_TIME) { Ok(()) } else { Err(Late(line.to_owned())) }
}

/// What a run says to the process that asked for it.
pub(crate) fn relay(run: Result<String, Late>) -> String {
    match run {
        Ok(numbers) => format!("{IN_TIME}: {numbers}"),
        Err(Late(what)) => what,
    }
}

const IN_TIME: &str = "in time";
