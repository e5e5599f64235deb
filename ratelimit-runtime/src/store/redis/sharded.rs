//! Whether keys lie in slots, although the URL names one address.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// What is known of that. A server in cluster mode says so while connecting. A proxy or a managed service may
/// not; the first call that needs to know finds it out.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharded(Arc<AtomicU8>);

impl Sharded {
    /// `None`: it is not known yet.
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
        // A yes stands.
        let _ = self.0.compare_exchange(UNKNOWN, NO, Ordering::Relaxed, Ordering::Relaxed);
    }
}
