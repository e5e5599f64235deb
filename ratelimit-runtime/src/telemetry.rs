//! The numbers that the limiter tells.

/// A connection to the store is there, or is gone.
pub(crate) fn connection(_up: bool) {}

/// A connection is tried.
pub(crate) fn connecting() {}
