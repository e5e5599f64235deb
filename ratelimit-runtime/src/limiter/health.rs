//! Whether the store answers, told once per change and not once per call.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::StoreError;

/// Counts the calls since the store stopped answering.
#[derive(Debug, Default)]
pub(super) struct Health {
    affected: AtomicU64,
}

impl Health {
    pub(super) fn answered(&self) {
        // A plain read first: nearly always the store was there before, and all threads ask.
        if self.affected.load(Ordering::Relaxed) > 0 {
            let affected = self.affected.swap(0, Ordering::Relaxed);
            if affected > 0 {
                tracing::info!(affected, "the rate limit store answers again");
            }
        }
    }

    pub(super) fn failed(&self, cause: &StoreError) {
        if self.affected.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(%cause, "the rate limit store does not answer, rules decide by `on_error`");
        }
    }
}
