//! Whether the store answers, told once per change and not once per call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// So long no call may have failed until the store is said to answer again: one that answers some
/// calls and not others, as a cluster does that has lost a node, is one change and not one per call.
const CALM: Duration = Duration::from_secs(1);

/// Counts the calls that the store did not answer.
#[derive(Debug)]
pub(super) struct Health {
    origin: Instant,
    /// Since it was last said that it answers.
    affected: AtomicU64,
    /// Milliseconds after `origin` of the first of them.
    first_ms: AtomicU64,
    /// And of the latest.
    latest_ms: AtomicU64,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
            affected: AtomicU64::new(0),
            first_ms: AtomicU64::new(0),
            latest_ms: AtomicU64::new(0),
        }
    }
}

impl Health {
    pub(super) fn answered(&self) {
        // A plain read first: nearly always the store was there before, and all threads ask.
        if self.affected.load(Ordering::Relaxed) > 0 {
            self.recovered(self.now_ms());
        }
    }

    fn recovered(&self, now_ms: u64) {
        let latest = self.latest_ms.load(Ordering::Relaxed);
        if Duration::from_millis(now_ms.saturating_sub(latest)) < CALM {
            return;
        }
        let affected = self.affected.swap(0, Ordering::Relaxed);
        if affected > 0 {
            let first = self.first_ms.load(Ordering::Relaxed);
            let lasted = Duration::from_millis(latest.saturating_sub(first));
            tracing::info!(affected, ?lasted, "the rate limit store answers again");
        }
    }

    pub(super) fn failed(&self, cause: &StoreError) {
        let now = self.now_ms();
        self.latest_ms.store(now, Ordering::Relaxed);
        if self.affected.fetch_add(1, Ordering::Relaxed) == 0 {
            self.first_ms.store(now, Ordering::Relaxed);
            tracing::warn!(%cause, "the rate limit store does not answer, rules decide by `on_error`");
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
