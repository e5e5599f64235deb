//! Whether the store answers, told once per change and not once per call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// A store that has not failed for so long is well again. One that fails now and then is not.
const WELL: Duration = Duration::from_secs(1);

/// No outage is told within so long of the last that was: a store that comes and goes must not fill
/// the logs.
const SPACING: Duration = Duration::from_secs(10);

/// Counts the calls since the store stopped answering. Times are in milliseconds since `made`.
#[derive(Debug)]
pub(super) struct Health {
    made: Instant,
    affected: AtomicU64,
    began: AtomicU64,
    failed: AtomicU64,
    /// When an outage was told last, and one more, so that 0 is never.
    told: AtomicU64,
    /// Whether the present one was.
    is_told: AtomicBool,
    /// Outages since the last that was told.
    untold: AtomicU64,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            made: Instant::now(),
            affected: AtomicU64::new(0),
            began: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            told: AtomicU64::new(0),
            is_told: AtomicBool::new(false),
            untold: AtomicU64::new(0),
        }
    }
}

impl Health {
    pub(super) fn answered(&self) {
        // A plain read first: nearly always the store was there before, and all threads ask.
        if self.affected.load(Ordering::Relaxed) > 0 {
            self.answered_at(self.now());
        }
    }

    pub(super) fn failed(&self, cause: &StoreError) {
        self.failed_at(self.now(), cause);
    }

    fn now(&self) -> u64 {
        millis(self.made.elapsed())
    }

    fn answered_at(&self, now: u64) {
        let failed = self.failed.load(Ordering::Relaxed);
        if now.saturating_sub(failed) < millis(WELL) {
            return;
        }
        let affected = self.affected.swap(0, Ordering::Relaxed);
        if affected > 0 && self.is_told.load(Ordering::Relaxed) {
            let lasted =
                Duration::from_millis(failed.saturating_sub(self.began.load(Ordering::Relaxed)));
            tracing::info!(affected, ?lasted, "the rate limit store answers again");
        }
    }

    fn failed_at(&self, now: u64, cause: &StoreError) {
        self.failed.store(now, Ordering::Relaxed);
        if self.affected.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        self.began.store(now, Ordering::Relaxed);
        let told = self.told.load(Ordering::Relaxed);
        let is_due = told == 0 || now + 1 >= told + millis(SPACING);
        self.is_told.store(is_due, Ordering::Relaxed);
        if !is_due {
            self.untold.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.told.store(now + 1, Ordering::Relaxed);
        let untold = self.untold.swap(0, Ordering::Relaxed);
        tracing::warn!(
            %cause, untold, "the rate limit store does not answer, rules decide by `on_error`"
        );
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span;

    use super::*;

    /// Keeps the fields of all events, one line each.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            write!(self.0, "{field}={value:?} ").unwrap();
        }
    }

    impl tracing::Subscriber for Lines {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    /// The lines that something writes.
    fn lines(run: impl FnOnce(&Health)) -> Vec<String> {
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.clone(), || run(&Health::default()));
        let lines = lines.0.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn an_outage_is_one_line_and_its_end_another() {
        let lines = lines(|health| {
            for ms in 0..5_000 {
                health.failed_at(ms, &StoreError::Reply);
            }
            for ms in 5_000..9_000 {
                health.answered_at(ms);
            }
        });
        let [down, up] = &*lines else { panic!("{lines:?}") };
        assert!(down.contains("the store's answer makes no sense"), "{down}");
        assert!(up.contains("affected=5000") && up.contains("lasted=4.999s"), "{up}");
    }

    #[test]
    fn a_store_that_fails_now_and_then_is_told_of_once() {
        let lines = lines(|health| {
            for ms in 0..60_000 {
                if ms % 500 == 0 {
                    health.failed_at(ms, &StoreError::Reply);
                } else {
                    health.answered_at(ms);
                }
            }
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    #[test]
    fn a_store_that_comes_and_goes_does_not_fill_the_logs() {
        let lines = lines(|health| {
            for ms in 0..60_000 {
                if ms % 2_000 == 0 {
                    health.failed_at(ms, &StoreError::Reply);
                } else {
                    health.answered_at(ms);
                }
            }
        });
        assert_eq!(lines.len(), 12, "two in ten seconds: {lines:?}");
        assert!(lines[2].contains("untold=4"), "{lines:?}");
    }
}
