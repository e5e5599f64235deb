//! How long the store takes, compared with how long it may.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// In how many steps times up to the deadline are counted.
const STEPS: u32 = 64;

/// How often the median is looked at.
const WINDOW_MS: u64 = 10_000;

/// A median of fewer answers says little.
const FEW: u32 = 20;

/// The least time between two lines.
const SPACING_MS: u64 = 60_000;

/// How long answers took, in steps of the deadline; the last is for those that came too late.
#[derive(Debug)]
pub(super) struct Latency {
    made: Instant,
    steps: [AtomicU32; STEPS as usize + 1],
    window_ends: AtomicU64,
    next_line: AtomicU64,
}

impl Latency {
    pub(super) fn new() -> Self {
        Self {
            made: Instant::now(),
            steps: [const { AtomicU32::new(0) }; STEPS as usize + 1],
            window_ends: AtomicU64::new(WINDOW_MS),
            next_line: AtomicU64::new(0),
        }
    }

    /// A question to the store has ended after so long.
    pub(super) fn note<T>(
        &self,
        took: Duration,
        deadline: Duration,
        answer: &Result<T, StoreError>,
    ) {
        // Only the deadline says how long it takes: other errors may be there at once.
        if matches!(answer, Ok(_) | Err(StoreError::Deadline { .. })) {
            let now = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.note_at(now, took, deadline);
        }
    }

    fn note_at(&self, now: u64, took: Duration, deadline: Duration) {
        let step = took.as_nanos() * u128::from(STEPS) / deadline.as_nanos().max(1);
        let step = usize::try_from(step).unwrap_or(usize::MAX).min(STEPS as usize);
        if let Some(step) = self.steps.get(step) {
            step.fetch_add(1, Ordering::Relaxed);
        }
        let ends = self.window_ends.load(Ordering::Relaxed);
        let next = now.saturating_add(WINDOW_MS);
        let is_ours = || {
            self.window_ends
                .compare_exchange(ends, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        if now >= ends && is_ours() {
            self.look(now, deadline);
        }
    }

    #[cold]
    fn look(&self, now: u64, deadline: Duration) {
        let counts = self.steps.each_ref().map(|step| step.load(Ordering::Relaxed));
        let all: u32 = counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
        let late = counts.last().copied().unwrap_or_default();
        if all.saturating_sub(late) < FEW {
            return;
        }
        for step in &self.steps {
            step.store(0, Ordering::Relaxed);
        }
        let mut before: u32 = 0;
        let median = counts.iter().position(|count| {
            before = before.saturating_add(*count);
            before > all / 2
        });
        let median = u32::try_from(median.unwrap_or_default()).unwrap_or(STEPS);
        if median < STEPS / 2 || now < self.next_line.load(Ordering::Relaxed) {
            return;
        }
        self.next_line.store(now.saturating_add(SPACING_MS), Ordering::Relaxed);
        let median = (deadline * (2 * median + 1) / (2 * STEPS)).min(deadline);
        tracing::warn!(
            ?median,
            ?deadline,
            "the median answer of the rate limit store takes more than half of the deadline"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::lines::during;

    const DEADLINE: Duration = Duration::from_millis(50);

    /// One answer every 100 ms for so many seconds.
    fn lines(seconds: u64, took_ms: impl Fn(u64) -> u64) -> Vec<String> {
        let latency = Latency::new();
        during(|| {
            for n in 0..seconds * 10 {
                latency.note_at(n * 100, Duration::from_millis(took_ms(n)), DEADLINE);
            }
        })
    }

    #[test]
    fn a_median_of_more_than_half_of_the_deadline_is_a_line_a_minute() {
        let lines = lines(120, |_| 40);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("WARN "), "{lines:?}");
        assert!(
            lines[0].contains("median=40.2") && lines[0].contains("deadline=50ms"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_median_below_is_none() {
        assert_eq!(lines(120, |n| if n % 5 < 3 { 20 } else { 60 }), [""; 0]);
    }

    #[test]
    fn answers_that_come_too_late_count() {
        let lines = lines(30, |n| if n % 5 < 2 { 10 } else { 200 });
        assert!(lines.len() == 1 && lines[0].contains("median=50ms"), "{lines:?}");
    }

    #[test]
    fn a_store_that_answers_nothing_is_not_slow_but_gone() {
        assert_eq!(lines(120, |_| 50), [""; 0]);
    }

    #[test]
    fn an_error_that_is_there_at_once_is_no_answer() {
        let latency = Latency::new();
        for _ in 0..100 {
            latency.note::<()>(Duration::ZERO, DEADLINE, &Err(StoreError::Reply));
        }
        assert!(latency.steps.iter().all(|step| step.load(Ordering::Relaxed) == 0));
    }
}
