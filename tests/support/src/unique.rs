//! Names that no other test uses.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A name nobody else has, for keys, rules and prefixes: tests share servers without meeting.
pub fn unique(stem: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{stem}-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
