//! How late a plain timer of this process is: nothing that waits can be expected to be better.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long the timer is set to.
const NAP: Duration = Duration::from_millis(5);

/// For how long its lateness is kept.
const KEPT: Duration = Duration::from_secs(5);

/// The timer. A thread of its own, as a task would be late too when a call blocks the runtime.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    naps: Arc<Mutex<VecDeque<Nap>>>,
}

#[derive(Clone, Copy, Debug)]
struct Nap {
    due: Instant,
    woke: Instant,
}

impl Lateness {
    pub(crate) fn start() -> Self {
        let naps: Arc<Mutex<VecDeque<Nap>>> = Arc::default();
        let kept = Arc::clone(&naps);
        let measure = move || {
            loop {
                let due = Instant::now() + NAP;
                thread::sleep(NAP);
                let woke = Instant::now();
                let mut naps = kept.lock().unwrap();
                naps.push_back(Nap { due, woke });
                while naps.front().is_some_and(|nap| nap.woke + KEPT < woke) {
                    naps.pop_front();
                }
            }
        };
        thread::Builder::new().name("plain timer".to_owned()).spawn(measure).unwrap();
        Self { naps }
    }

    /// The latest that it was at any moment from one instant to another.
    pub(crate) fn between(&self, from: Instant, to: Instant) -> Duration {
        let naps = self.naps.lock().unwrap();
        // In order of time: only the last of them are looked at.
        let around = naps.iter().rev().skip_while(|nap| nap.due > to);
        let around = around.take_while(|nap| nap.woke >= from);
        around.map(|nap| nap.woke.saturating_duration_since(nap.due)).max().unwrap_or_default()
    }
}
