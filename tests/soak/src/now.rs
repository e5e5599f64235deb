//! The clock that all processes share.

use std::time::{SystemTime, UNIX_EPOCH};

/// One second, in the unit of all times here.
pub(crate) const SECOND: u64 = 1_000_000;

/// Microseconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64
}
