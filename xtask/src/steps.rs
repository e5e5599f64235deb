//! Named steps, one after the other, each with its time; the first failure ends it.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::Result;

/// The steps that were done so far.
pub(crate) struct Steps {
    started: Instant,
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), done: Vec::new() }
    }

    /// Does one step, and says which it was when it fails.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result) -> Result {
        println!("\n==> {name}");
        flush();
        let started = Instant::now();
        let result = work();
        let took = started.elapsed();
        match result {
            Ok(()) => {
                println!("<== {name}: {}", seconds(took));
                self.done.push((name, took));
                Ok(())
            }
            Err(why) => Err(format!("step \"{name}\" failed after {}: {why}", seconds(took))),
        }
    }

    /// Prints what took how long.
    pub(crate) fn summary(&self) {
        println!("\nAll {} steps passed:", self.done.len());
        for (name, took) in &self.done {
            println!("{:>9}  {name}", seconds(*took));
        }
        println!("{:>9}  in all", seconds(self.started.elapsed()));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Steps write to the same terminal as we do: what we said must be there first.
fn flush() {
    // A closed pipe is found out by the step itself.
    let _ = io::stdout().flush();
}
