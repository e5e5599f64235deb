//! Who may have the machine for himself.
//!
//! Tests run side by side. Most do not care. Those that measure to the millisecond ask for
//! [`quiet`]; those that keep all processors busy ask to be [`loud`], and then no quiet one runs.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

/// Until this is dropped, no test is loud.
pub fn quiet() -> RwLockReadGuard<'static, ()> {
    // A failed test is told of once, and not by all that come after it.
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Until this is dropped, no test is quiet, and no other is loud.
pub fn loud() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}
