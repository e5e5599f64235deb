//! What the kernel says of the memory of this process.

use std::fs;

/// A field such as `VmRSS`, in KiB.
pub(crate) fn kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
