//! How late this process is through no fault of its own: nothing that waits can be expected to be
//! better.
//!
//! A plain timer says it, and so does the kernel, which knows how long each thread waited for a
//! processor: on a busy machine the threads that a call needs may be late when the timer's is not.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long the timer is set to.
const NAP: Duration = Duration::from_millis(5);

/// For how long its lateness is kept.
const KEPT: Duration = Duration::from_secs(5);

/// So many naps lie between two questions to the kernel.
const ASKED_EVERY: usize = 4;

/// The timer. A thread of its own, as a task would be late too when a call blocks the runtime.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    seen: Arc<Mutex<Seen>>,
}

/// In order of time.
#[derive(Debug, Default)]
struct Seen {
    naps: VecDeque<Nap>,
    /// How long the threads had waited, all of them together.
    waited: VecDeque<(Instant, Duration)>,
}

#[derive(Clone, Copy, Debug)]
struct Nap {
    due: Instant,
    woke: Instant,
}

impl Lateness {
    pub(crate) fn start() -> Self {
        let lateness = Self::default();
        let seen = Arc::clone(&lateness.seen);
        let measure = move || {
            for nap in 0_usize.. {
                let due = Instant::now() + NAP;
                thread::sleep(NAP);
                let woke = Instant::now();
                let waited = (nap % ASKED_EVERY == 0).then(|| (Instant::now(), waited()));
                seen.lock().unwrap().add(Nap { due, woke }, waited);
            }
        };
        thread::Builder::new().name("plain timer".to_owned()).spawn(measure).unwrap();
        lateness
    }

    /// At most, from one instant to another.
    pub(crate) fn between(&self, from: Instant, to: Instant) -> Duration {
        let seen = self.seen.lock().unwrap();
        seen.timer(from, to).max(seen.processor(from, to))
    }
}

impl Seen {
    fn add(&mut self, nap: Nap, waited: Option<(Instant, Duration)>) {
        let now = nap.woke;
        self.naps.push_back(nap);
        self.waited.extend(waited);
        while self.naps.front().is_some_and(|nap| nap.woke + KEPT < now) {
            self.naps.pop_front();
        }
        while self.waited.front().is_some_and(|(at, _)| *at + KEPT < now) {
            self.waited.pop_front();
        }
    }

    fn timer(&self, from: Instant, to: Instant) -> Duration {
        let around = self.naps.iter().rev().skip_while(|nap| nap.due > to);
        let around = around.take_while(|nap| nap.woke >= from);
        around.map(|nap| nap.woke.saturating_duration_since(nap.due)).max().unwrap_or_default()
    }

    fn processor(&self, from: Instant, to: Instant) -> Duration {
        let before = self.waited.iter().rev().find(|(at, _)| *at <= from);
        let after = self.waited.iter().find(|(at, _)| *at >= to);
        match (before, after) {
            (Some((_, before)), Some((_, after))) => after.saturating_sub(*before),
            _ => Duration::ZERO,
        }
    }
}

/// How long the threads of this process have waited for a processor so far. A kernel that does not
/// tell leaves the timer alone to say it.
fn waited() -> Duration {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let of_thread = |path: std::path::PathBuf| -> Option<u64> {
        let told = fs::read_to_string(path.join("schedstat")).ok()?;
        // Time on a processor, time in line for one, both in nanoseconds, and turns.
        told.split(' ').nth(1)?.parse().ok()
    };
    Duration::from_nanos(threads.flatten().filter_map(|thread| of_thread(thread.path())).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_late_in_the_meantime_counts() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let ms = Duration::from_millis;
        let mut seen = Seen::default();
        seen.add(Nap { due: at(5), woke: at(6) }, Some((at(6), ms(100))));
        seen.add(Nap { due: at(11), woke: at(41) }, Some((at(41), ms(150))));
        seen.add(Nap { due: at(46), woke: at(46) }, None);
        assert_eq!(seen.timer(at(7), at(9)), Duration::ZERO);
        assert_eq!(seen.timer(at(7), at(12)), ms(30));
        assert_eq!(seen.timer(at(42), at(60)), Duration::ZERO);
        assert_eq!(seen.processor(at(7), at(12)), ms(50));
        assert_eq!(seen.processor(at(42), at(60)), Duration::ZERO, "not known");
    }
}
