//! What was kept because it is typical, or because it was found once.

#![allow(clippy::unwrap_used, reason = "tests: a panic is a failed test")]

use std::fs;
use std::path::Path;

/// Each input, and each of its beginnings.
fn each(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let inputs = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for input in inputs {
        let bytes = fs::read(&input).unwrap();
        (0..=bytes.len()).filter_map(|end| bytes.get(..end)).for_each(check);
        count += 1;
    }
    assert!(count > 0, "no inputs of {target}");
}

#[test]
fn addresses() {
    each("address", fuzz::address);
}
