//! Named steps, each with its time; the first failure ends it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// One check.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) when: When,
    pub(crate) work: fn() -> Result,
}

/// When a step is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// One after the other, before the tests.
    First,
    /// The tests.
    Tests,
    /// One after the other, at the same time as the tests.
    Beside,
    /// When all others are over.
    Last,
}

/// The steps that were done so far.
pub(crate) struct Steps {
    started: Instant,
    done: Vec<(String, Duration)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), done: Vec::new() }
    }

    /// Does one step, and says which it was when it fails.
    pub(crate) fn step(&mut self, step: &Step) -> Result {
        println!("\n==> {}", step.name);
        flush();
        let started = Instant::now();
        let took = ended(step.name, started, (step.work)())?;
        println!("<== {}: {}", step.name, seconds(took));
        self.done.push((step.name.to_owned(), took));
        Ok(())
    }

    /// Does one step in a process of its own. What it says goes to a file, and is printed in one piece.
    pub(crate) fn step_beside(&mut self, name: &str, file: &Path, command: &mut Command) -> Result {
        let cannot = |e: io::Error| format!("cannot write {}: {e}", file.display());
        let output = File::create(file).map_err(cannot)?;
        command.stdin(Stdio::null()).stderr(output.try_clone().map_err(cannot)?).stdout(output);
        let started = Instant::now();
        let status = command.status().map_err(|e| format!("cannot run step \"{name}\": {e}"))?;
        let said = fs::read(file).unwrap_or_default();
        println!("\n==> {name}, beside the tests\n{}", String::from_utf8_lossy(&said).trim());
        flush();
        let result = if status.success() { Ok(()) } else { Err("see above".to_owned()) };
        let took = ended(name, started, result)?;
        self.done.push((format!("{name}, beside the tests"), took));
        Ok(())
    }

    /// Takes the steps of another lane in.
    pub(crate) fn add(&mut self, other: Self) {
        self.done.extend(other.done);
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

/// How long a step took, or which one failed.
fn ended(name: &str, started: Instant, result: Result) -> Result<Duration> {
    let took = started.elapsed();
    result.map_err(|why| format!("step \"{name}\" failed after {}: {why}", seconds(took)))?;
    Ok(took)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Steps write to the same terminal as we do: what we said must be there first.
fn flush() {
    // A closed pipe is found out by the step itself.
    let _ = io::stdout().flush();
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs;
    use std::process::{self, Command};

    use super::Steps;

    #[test]
    fn a_step_in_a_process_of_its_own() {
        let file = env::temp_dir().join(format!("xtask-step-{}.txt", process::id()));
        let mut steps = Steps::new();
        let mut step = |name, script| {
            let done = steps.step_beside(name, &file, Command::new("sh").args(["-c", script]));
            (done, fs::read_to_string(&file).unwrap_or_default())
        };
        assert_eq!(step("good", "echo yes; echo well >&2"), (Ok(()), "yes\nwell\n".to_owned()));
        let (failed, said) = step("bad", "echo no; exit 3");
        assert!(failed.is_err_and(|why| why.contains("step \"bad\" failed")));
        assert_eq!(said, "no\n");
        let _ = fs::remove_file(&file);
        assert_eq!(steps.done.len(), 1);
    }
}
