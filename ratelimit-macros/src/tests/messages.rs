//! Every message has a case in `tests/ui/fail`: one whose `.stderr` file shows it.

use std::fs;
use std::path::Path;

/// All messages of the crate, by file.
const MESSAGES: &[(&str, &[(&str, &str)])] = &[
    ("address", crate::address::ALL),
    ("args", crate::args::ALL),
    ("arithmetic", crate::arithmetic::ALL),
    ("check", crate::check::ALL),
    ("flow", crate::flow::ALL),
    ("foreign", crate::foreign::ALL),
    ("function", crate::function::ALL),
    ("handler", crate::handler::ALL),
    ("milliseconds", crate::milliseconds::ALL),
    ("quantity", crate::quantity::ALL),
    ("scan", crate::scan::ALL),
    ("stack", crate::stack::ALL),
    ("unused", crate::unused::ALL),
];

#[test]
fn every_message_has_a_ui_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui/fail");
    let mut shown = Vec::new();
    read_all(&folder, &mut shown);
    assert!(!shown.is_empty(), "no .stderr file in {}", folder.display());
    let mut missing = Vec::new();
    for (file, messages) in MESSAGES.iter().chain(&crate::key::MESSAGES) {
        for (name, template) in *messages {
            if !shown.iter().any(|line| fits(line, template)) {
                missing.push(format!("{file}::{name}: {template}"));
            }
        }
    }
    assert!(missing.is_empty(), "messages without a UI case:\n{}", missing.join("\n"));
}

/// `docs/errors.md` says about each message what causes it and what to write instead.
#[test]
fn every_message_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = fs::read_to_string(page).unwrap().replace("\\|", "\u{3}");
    let explained: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .map(|cell| cell.replace('\u{3}', "|"))
        .collect();
    let mut missing = Vec::new();
    for (file, messages) in MESSAGES {
        for (name, template) in *messages {
            if !explained.iter().any(|cell| fits(cell, template)) {
                missing.push(format!("{file}::{name}: {template}"));
            }
        }
    }
    assert!(missing.is_empty(), "messages that docs/errors.md lacks:\n{}", missing.join("\n"));
}

/// Messages are data in one place of each file, and nothing else makes an error.
#[test]
fn errors_are_made_of_messages_only() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in walk(&folder, "rs") {
        let source = fs::read_to_string(&entry).unwrap();
        let is_error =
            entry.ends_with("error.rs") || entry.components().any(|c| c.as_os_str() == "tests");
        assert!(
            is_error || !source.contains(concat!("syn::Error", "::new")),
            "{} makes an error that is not declared with `messages!`",
            entry.display()
        );
        let declares = source.contains("\nmessages! {");
        let stem = entry.strip_prefix(&folder).unwrap().with_extension("");
        let mut known = MESSAGES.iter().chain(&crate::key::MESSAGES);
        let known = known.any(|(file, _)| Path::new(file) == stem);
        assert!(!declares || known, "add `{}` to MESSAGES", stem.display());
    }
}

/// The lines of all error messages that the cases show.
fn read_all(folder: &Path, shown: &mut Vec<String>) {
    for file in walk(folder, "stderr") {
        let text = fs::read_to_string(file).unwrap();
        shown.extend(
            text.lines().filter_map(|line| line.strip_prefix("error: ")).map(str::to_owned),
        );
    }
}

fn walk(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return files };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files
}

/// Whether `line` is the message of `template` with something for each `{..}`.
fn fits(line: &str, template: &str) -> bool {
    let template = template.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut pieces: Vec<String> = template
        .split('{')
        .enumerate()
        .map(|(index, piece)| if index == 0 { piece } else { piece.split_once('}').unwrap().1 })
        .map(|piece| piece.replace('\u{1}', "{").replace('\u{2}', "}"))
        .collect();
    let last = pieces.pop().unwrap();
    if pieces.is_empty() {
        return line == last;
    }
    let Some(line) = line.strip_suffix(&last) else { return false };
    let Some(mut rest) = line.strip_prefix(&pieces[0]) else { return false };
    pieces[1..].iter().all(|piece| {
        let found = rest.split_once(piece.as_str());
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}

#[test]
fn templates_fit_their_messages_only() {
    assert!(fits("`a` is 0", "`{arg}` is 0"));
    assert!(!fits("`a` is 0!", "`{arg}` is 0"));
    assert!(!fits("so `a` is 0", "`{arg}` is 0"));
    assert!(fits("write `{ a }` x", "write `{{ a }}` {b}"));
    assert!(fits("plain", "plain"));
    assert!(!fits("plainly", "plain"));
}
