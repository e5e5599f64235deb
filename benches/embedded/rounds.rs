//! Times cases side by side: round by round, so that a machine that slows down slows all of them.

use std::thread;
use std::time::Instant;

const ROUNDS: usize = 7;
const CALLS: u32 = 400_000;

/// One thing to time.
pub(crate) struct Case<'a> {
    name: &'a str,
    keys: &'a [String],
    pick: fn() -> usize,
    call: &'a (dyn Fn(&String) + Sync),
}

impl<'a> Case<'a> {
    /// Calls `call` with the keys that `pick` chooses.
    pub(crate) fn new(
        name: &'a str,
        keys: &'a [String],
        pick: fn() -> usize,
        call: &'a (dyn Fn(&String) + Sync),
    ) -> Self {
        Self { name, keys, pick, call }
    }

    /// Nanoseconds per call, where each thread makes all calls.
    fn time(&self, threads: usize) -> f64 {
        let run = || {
            for _ in 0..CALLS {
                if let Some(key) = self.keys.get((self.pick)()) {
                    (self.call)(key);
                }
            }
        };
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(run);
            }
        });
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    }
}

/// Prints the median of every case and its ratio to the first one.
pub(crate) fn table(title: &str, threads: usize, cases: &[Case<'_>]) {
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..=ROUNDS {
        for (case, times) in cases.iter().zip(&mut times) {
            times.push(case.time(threads));
        }
    }
    println!("\n| {title} | ns per call | times as fast as the first |\n| --- | --: | --: |");
    let medians: Vec<f64> = times.into_iter().map(median_after_warm_up).collect();
    let first = medians.first().copied().unwrap_or(f64::NAN);
    for (case, median) in cases.iter().zip(medians) {
        println!("| {} | {median:.1} | {:.2} |", case.name, first / median);
    }
}

fn median_after_warm_up(mut times: Vec<f64>) -> f64 {
    times.remove(0);
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
