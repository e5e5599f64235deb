//! `tests/SPECS.md` and the names of tests say the same: every `bNNN_...` has a line, every line has a test.

#![allow(clippy::unwrap_used, reason = "tests: a panic is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where tests are.
const FOLDERS: [&str; 6] =
    ["benches", "lua", "ratelimit-macros/src", "ratelimit-runtime", "tests", "xtask"];

#[test]
fn every_numbered_test_has_a_line_and_every_line_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lines = lines(&fs::read_to_string(root.join("tests/SPECS.md")).unwrap());
    let mut tested = BTreeSet::new();
    for folder in FOLDERS {
        read(&root.join(folder), &mut tested);
    }
    assert!(
        lines.len() > 90 && tested.len() > 80,
        "{} lines, {} tested",
        lines.len(),
        tested.len()
    );

    let known: BTreeSet<String> = lines.keys().cloned().collect();
    let without_a_line: Vec<_> = tested.difference(&known).collect();
    assert!(without_a_line.is_empty(), "tests/SPECS.md has no line for {without_a_line:?}");
    for (number, line) in &lines {
        let planned = line.starts_with("*(planned: ");
        assert_ne!(planned, tested.contains(number), "planned, or tested? {number}: {line}");
    }
}

/// The text of each number: `- **b001** Functions that ...`.
fn lines(specs: &str) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for line in specs.lines().filter_map(|line| line.strip_prefix("- **")) {
        let (number, text) = line.split_once("** ").unwrap();
        assert!(text.len() > 15, "{number} says nothing");
        let earlier = lines.insert(number.to_owned(), text.to_owned());
        assert_eq!(earlier, None, "{number} is there twice");
    }
    lines
}

/// Collects the numbers in names of functions and modules below a folder.
fn read(folder: &Path, numbers: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, numbers);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            // A test of several has several: `b105_b162_...`.
            let names = ["fn b", "mod b"].iter().flat_map(|start| text.split(start).skip(1));
            for name in names {
                let mut parts = format!("b{name}");
                parts.truncate(
                    parts.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap(),
                );
                numbers.extend(parts.split('_').filter(|part| is_number(part)).map(str::to_owned));
            }
        }
    }
}

fn is_number(part: &str) -> bool {
    part.len() == 4 && part.starts_with('b') && part[1..].bytes().all(|byte| byte.is_ascii_digit())
}
