//! The scripts as text. What they decide is tested against real servers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

use super::{ALL, Script};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Lua files of a folder of the package, with their text.
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(package().join(folder)).unwrap();
    let files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect();
    assert!(!files.is_empty(), "no scripts in `{folder}`");
    files
}

/// The comment with which a file opens.
fn header(text: &str) -> String {
    text.lines().map_while(|line| line.strip_prefix("--")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_script_is_here() {
    let mut here: Vec<_> = ALL.iter().map(|script| format!("{}.lua", script.name)).collect();
    let mut files: Vec<_> = files(".")
        .into_iter()
        .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    here.sort();
    files.sort();
    assert_eq!(here, files);
}

#[test]
fn scripts_end_with_their_own_file() {
    for Script { name, source, .. } in ALL {
        let file = std::fs::read_to_string(package().join(format!("{name}.lua"))).unwrap();
        assert!(source.ends_with(&file), "{name}");
    }
}

#[test]
fn every_piece_is_used() {
    for (path, text) in files("lib") {
        assert!(ALL.iter().any(|script| script.source.contains(&text)), "{}", path.display());
    }
}

/// Pieces are joined as they are: without a line break at the end two would run into each other.
#[test]
fn files_end_with_a_line_break() {
    for (path, text) in files("lib").into_iter().chain(files(".")) {
        assert!(text.ends_with('\n'), "{}", path.display());
    }
}

#[test]
fn scripts_say_what_they_take_and_return() {
    for (path, text) in files(".") {
        let header = header(&text);
        for part in ["Decides", "KEYS[", "ARGV[1]", "ARGV[", "Returns"] {
            assert!(header.contains(part), "{} does not say {part}", path.display());
        }
    }
}

#[test]
fn pieces_say_what_they_are() {
    for (path, text) in files("lib") {
        let header = header(&text);
        assert!(header.len() > 100, "{}", path.display());
        if text.contains("function judge_") {
            for part in ["Check: kind, cost, ", "State: ", "Needs `now`"] {
                assert!(header.contains(part), "{} does not say {part}", path.display());
            }
        }
    }
}

/// A server would never find a script under a wrong digest.
#[test]
fn digests_are_those_of_the_texts() {
    for Script { name, sha1, source } in ALL {
        let mut right = String::new();
        for byte in Sha1::digest(source) {
            write!(right, "{byte:02x}").unwrap();
        }
        assert_eq!(*sha1, right, "the digest of {name} in src/lib.rs has to be {right}");
    }
}
