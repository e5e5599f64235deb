//! A process that forks.

use std::os::unix::process::parent_id;
use std::process::Command;

use crate::preload;

/// Allows a process to [`fork`].
pub(crate) fn allow(command: &mut Command) {
    preload::apply(command);
    command.env("RATELIMIT_TEST_FORK", "1");
}

/// Forks; whether this is the child then. The child consists of the calling thread alone. It has 20
/// seconds to live, and ends by `std::process::exit`, so that it does nothing that is its parent's.
///
/// Only in a node that [may](crate::NodeBuilder::may_fork).
pub fn fork() -> bool {
    // The library that was loaded in front has put a fork in its place, which in Rust is unsafe.
    parent_id() == 0
}
