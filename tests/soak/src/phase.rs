//! One phase: nodes call, servers are hurt, and everything that is seen is kept for the judge.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;

use crate::crew::{Crew, Reports};
use crate::expiry::{self, Looks};
use crate::faults::{self, Fault, Stage};

/// What was seen.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    pub(crate) faults: Vec<Fault>,
    pub(crate) reports: Reports,
    pub(crate) looks: Looks,
}

/// Tells others to stop, also when it is dropped by a panic.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs one.
pub(crate) fn run<S: Stage + Send>(
    mut stage: S,
    crew: &mut Crew,
    lasts: Duration,
    rng: &mut Rng,
) -> Phase {
    crew.begin(&stage.url());
    let servers = stage.servers();
    let stop = AtomicBool::new(false);
    let (faults, reports, looks) = thread::scope(|scope| {
        let stopped = Stop(&stop);
        let reports = scope.spawn(|| crew.gather(&stop));
        let looks = scope.spawn(|| expiry::watch(&servers, &stop));
        let faults = faults::inflict(&mut stage, lasts, rng);
        drop(stopped);
        (faults, reports.join().unwrap(), looks.join().unwrap())
    });
    Phase { name: S::NAME, faults, reports, looks }
}

impl Phase {
    /// What was wrong, whatever the judge says.
    pub(crate) fn failures(&self) -> Vec<String> {
        let wrong = self.reports.wrong.iter().map(|wrong| format!("{}: {wrong}", self.name));
        let endless = self.looks.without.iter();
        let endless = endless.map(|key| format!("{}: {key} has no expiry", self.name));
        wrong.chain(endless).collect()
    }
}
