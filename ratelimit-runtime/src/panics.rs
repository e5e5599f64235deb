//! Panics of code that is not ours: a hook's, a recorder's.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs it; whether it came to its end. Whatever it does, the caller goes on. What it has in its hands is all
/// that may be left half done.
pub(crate) fn survives(run: impl FnOnce()) -> bool {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else { return true };
    // What it was thrown with may panic in turn. What that throws is not looked at any more.
    catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(std::mem::forget);
    false
}
