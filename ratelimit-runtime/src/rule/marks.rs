//! Which of a few things have happened to a rule.

use std::sync::atomic::{AtomicU64, Ordering};

/// A set of numbers below 64.
#[derive(Debug)]
pub(super) struct Marks(AtomicU64);

impl Marks {
    pub(super) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds a number, and says whether it was not there yet.
    pub(super) fn is_new(&self, mark: u32) -> bool {
        let bit = 1_u64.checked_shl(mark).unwrap_or(1 << 63);
        self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

impl Clone for Marks {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}
