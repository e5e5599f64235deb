//! No dead link in the documentation: what pages link to is there, place for place.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::cmd::{capture, cargo, run};
use crate::{Result, workspace};

/// Where the documentation and the repository will be on the web.
const DOCS: &str = "https://docs.rs/ratelimit-kit/latest/";
const REPOSITORY: &str = "https://github.com/ratelimit-kit/ratelimit-kit/blob/main/";

/// Our crates. Pages of the standard library are not built.
const CRATES: &[&str] =
    &["ratelimit_kit", "ratelimit_lua", "ratelimit_macros", "ratelimit_runtime"];

/// Builds the documentation from nothing, so that no page of before hides that it is gone, and checks it.
pub(crate) fn run_alone() -> Result {
    run(&mut cargo(&["clean", "--doc"]))?;
    run(&mut cargo(&["doc", "--workspace", "--all-features", "--no-deps"]))?;
    check()
}

/// Checks the documentation that is built.
pub(crate) fn check() -> Result {
    let built = workspace::target().join("doc");
    let mut pages = BTreeMap::new();
    for name in CRATES {
        read(&built.join(name), &mut pages)?;
    }
    let mut repository = Command::new("git");
    repository.current_dir(workspace::root()).arg("ls-files");
    let files = capture(&mut repository)?;
    let files: HashSet<&str> = files.lines().collect();

    let (mut links, mut dead) = (0, Vec::new());
    for (path, page) in &pages {
        for target in attributes(page, "href") {
            let is_there = if let Some(file) = target.strip_prefix(REPOSITORY) {
                files.contains(place(file).0)
            } else if let Some(ours) = target.strip_prefix(DOCS) {
                leads_to_a_place(&built.join("index.html"), ours, &pages)
            } else if leads_elsewhere(target) {
                continue;
            } else {
                leads_to_a_place(path, target, &pages)
            };
            links += 1;
            if !is_there {
                let page = path.strip_prefix(&built).unwrap_or(path);
                dead.push(format!("  {}: {target}", page.display()));
            }
        }
    }
    println!("{links} links on {} pages", pages.len());
    match dead.len() {
        // Every page has a dozen, so so few are a mistake here and not there.
        0 if links < pages.len() => Err(format!("only {links} links were found")),
        0 => Ok(()),
        count => Err(format!("{count} dead links:\n{}", dead.join("\n"))),
    }
}

/// Whether a link leaves what we have built. Traits of other crates bring their texts along, in which names
/// stand that only their own pages resolve; such a name in a text of ours is an error of rustdoc.
fn leads_elsewhere(target: &str) -> bool {
    let (file, _) = place(target);
    let is_name = !file.is_empty() && !file.contains(['.', '/']);
    is_name || file.contains("::") || file.contains("://") || file.starts_with("mailto:")
}

/// The pages of a folder and of the folders in it.
fn read(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result {
    let cannot = |e| format!("cannot read {}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            read(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let page = fs::read_to_string(&path).map_err(cannot)?;
            pages.insert(path, page);
        }
    }
    Ok(())
}

/// Whether a relative link on a page leads to a page, and to a place on it if it names one.
fn leads_to_a_place(from: &Path, target: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    let (file, name) = place(target);
    let folder = from.parent().unwrap_or(from);
    let to = if file.is_empty() { from.to_owned() } else { plain(&folder.join(file)) };
    match pages.get(&to) {
        // Lines of a source are found by a script of the page, and not by name.
        None => to.exists(),
        Some(_) if name.is_empty() => true,
        Some(page) => attributes(page, "id").any(|id| id == name),
    }
}

/// The file of a link, and the place in it.
fn place(target: &str) -> (&str, &str) {
    target.split_once('#').unwrap_or((target, ""))
}

/// A path without `..` in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The values of an attribute, as rustdoc writes them.
fn attributes<'p>(page: &'p str, name: &str) -> impl Iterator<Item = &'p str> {
    let start = format!(" {name}=\"");
    let mut rest = page;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(start.as_str())?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Path, PathBuf, leads_to_a_place};

    #[test]
    fn a_link_needs_its_page_and_its_place() {
        let pages = BTreeMap::from([
            (PathBuf::from("/doc/kit/index.html"), "<h2 id=\"errors\">".to_owned()),
            (PathBuf::from("/doc/kit/guide/http/index.html"), String::new()),
        ]);
        let from = Path::new("/doc/kit/guide/http/index.html");
        let is_there = |target| leads_to_a_place(from, target, &pages);
        assert!(is_there("../../index.html#errors"));
        assert!(is_there("index.html"));
        assert!(!is_there("../../index.html#gone"));
        assert!(!is_there("redis.md"));
        assert!(!is_there("#here"));
    }
}
