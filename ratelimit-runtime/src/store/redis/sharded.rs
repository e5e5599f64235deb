//! Whether one address stands in front of many slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// What is known of it. A server in cluster mode says so when it is connected; a proxy or a service may
/// not, and is found out by the first call that needs to know.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharded(Arc<AtomicU8>);

impl Sharded {
    /// `None`: nobody has asked yet.
    pub(super) fn known(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            NO => Some(false),
            YES => Some(true),
            _ => None,
        }
    }

    pub(super) fn found(&self) {
        self.0.store(YES, Ordering::Relaxed);
    }

    pub(super) fn not_found(&self) {
        // Whoever has found it knows better.
        let _ = self.0.compare_exchange(UNKNOWN, NO, Ordering::Relaxed, Ordering::Relaxed);
    }
}
