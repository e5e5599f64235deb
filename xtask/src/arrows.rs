//! The arrows between the modules of the runtime run one way, as the list in its `lib.rs` says.
//!
//! A module is a file or folder beside `lib.rs`. An arrow is a `crate::other` in its code, outside of tests and
//! comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, workspace};

/// For each module those that it uses, and where it does so first.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

/// Fails on a circle of modules, and on an arrow from a lower layer to a higher one.
pub(crate) fn check() -> Result {
    let src = workspace::root().join("ratelimit-runtime/src");
    let lib = read(&src.join("lib.rs"))?;
    let mut arrows = Arrows::new();
    let mut files = Vec::new();
    sources(&src, &mut files)?;
    for file in files {
        let name = file.strip_prefix(&src).unwrap_or(&file);
        let module = name.iter().next().unwrap_or_default().to_string_lossy();
        let module = module.trim_end_matches(".rs").to_owned();
        if module != "lib" {
            let used = arrows.entry(module.clone()).or_default();
            for (other, line) in uses(&read(&file)?) {
                if other != module {
                    used.entry(other).or_insert_with(|| format!("{}:{line}", name.display()));
                }
            }
        }
    }
    judge(&arrows, &layers(&lib))
}

fn judge(arrows: &Arrows, layers: &[Vec<String>]) -> Result {
    if let Some(circle) = circle(arrows) {
        return Err(format!("modules use each other in a circle: {}", show(arrows, &circle)));
    }
    let layer = |module: &str| layers.iter().position(|layer| layer.iter().any(|m| m == module));
    for (module, used) in arrows {
        let Some(own) = layer(module) else {
            return Err(format!("`{module}` is not in the list of layers in lib.rs"));
        };
        for (other, place) in used {
            match layer(other) {
                Some(lower) if lower < own => {}
                Some(_) => {
                    return Err(format!(
                        "{place}: `{module}` uses `{other}`, which is not below it in lib.rs"
                    ));
                }
                None => return Err(format!("{place}: `{other}` is no module: name one")),
            }
        }
    }
    Ok(())
}

/// A walk along arrows that ends where it began.
fn circle(arrows: &Arrows) -> Option<Vec<String>> {
    fn walk<'a>(
        arrows: &'a Arrows,
        module: &'a str,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> bool {
        if let Some(start) = path.iter().position(|on| *on == module) {
            path.drain(..start);
            path.push(module);
            return true;
        }
        if !done.insert(module) {
            return false;
        }
        path.push(module);
        let found = arrows
            .get(module)
            .is_some_and(|used| used.keys().any(|other| walk(arrows, other, path, done)));
        if !found {
            path.pop();
        }
        found
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|module| {
        let mut path = Vec::new();
        walk(arrows, module, &mut path, &mut done)
            .then(|| path.into_iter().map(str::to_owned).collect())
    })
}

fn show(arrows: &Arrows, circle: &[String]) -> String {
    let steps = circle.windows(2).filter_map(|pair| {
        let [from, to] = pair else { return None };
        let place = arrows.get(from)?.get(to)?;
        Some(format!(" -> {to} ({place})"))
    });
    circle.first().cloned().into_iter().chain(steps).collect()
}

/// The lines "- `one`, `other`: ..." of the documentation of `lib.rs`.
fn layers(lib: &str) -> Vec<Vec<String>> {
    lib.lines()
        .filter_map(|line| line.strip_prefix("//! - "))
        .filter_map(|line| line.split_once(':'))
        .map(|(names, _)| names.split('`').skip(1).step_by(2).map(str::to_owned).collect())
        .collect()
}

/// The first segments of all paths from the root of the crate, each with its line.
fn uses(text: &str) -> Vec<(String, usize)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut uses = Vec::new();
    let mut is_for_docs = false;
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        if !is_for_docs {
            for rest in line.split("crate::").skip(1) {
                let name = |c: char| c.is_alphanumeric() || c == '_';
                let end = rest.find(|c| !name(c)).unwrap_or(rest.len());
                uses.push((rest.get(..end).unwrap_or_default().to_owned(), number + 1));
            }
        }
        is_for_docs = line.trim() == "#[cfg(doc)]";
    }
    uses
}

/// All files below a folder, except those of tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut tests = BTreeSet::from(["tests".to_owned()]);
    for path in paths.iter().filter(|path| path.extension().is_some()) {
        let text = read(path)?;
        let modules = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
            let declaration = rest.lines().next()?.strip_suffix(';')?;
            Some(declaration.rsplit_once("mod ")?.1.to_owned())
        });
        tests.extend(modules);
    }
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if tests.contains(&*stem) {
            continue;
        }
        if path.is_dir() {
            sources(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(all: &[(&str, &str)]) -> Arrows {
        let mut arrows = Arrows::new();
        for (from, to) in all {
            arrows.entry((*to).to_owned()).or_default();
            let used = arrows.entry((*from).to_owned()).or_default();
            used.insert((*to).to_owned(), format!("{from}.rs:1"));
        }
        arrows
    }

    fn list() -> Vec<Vec<String>> {
        layers("//! Text.\n//!\n//! - `a`, `b`: low.\n//! - `c`: high.\nmod a;\n")
    }

    #[test]
    fn arrows_that_run_down_are_right() {
        assert_eq!(judge(&arrows(&[("c", "a"), ("c", "b")]), &list()), Ok(()));
    }

    #[test]
    fn a_circle_is_shown() {
        let said = judge(&arrows(&[("c", "a"), ("a", "b"), ("b", "c")]), &list()).unwrap_err();
        let circle = "a -> b (a.rs:1) -> c (b.rs:1) -> a (c.rs:1)";
        assert_eq!(said, format!("modules use each other in a circle: {circle}"));
    }

    #[test]
    fn an_arrow_up_or_aside_is_shown_and_a_module_that_is_not_listed() {
        let said = |all: &[(&str, &str)]| judge(&arrows(all), &list()).unwrap_err();
        assert_eq!(said(&[("a", "c")]), "a.rs:1: `a` uses `c`, which is not below it in lib.rs");
        assert_eq!(said(&[("a", "b")]), "a.rs:1: `a` uses `b`, which is not below it in lib.rs");
        assert_eq!(said(&[("d", "a")]), "`d` is not in the list of layers in lib.rs");
    }

    #[test]
    fn only_code_counts() {
        let text = "/// [`x`](crate::docs)\nuse crate::one::X;\n#[cfg(doc)]\nuse crate::docs;\n\
                    f(crate::two, crate::three::g()); // crate::no\n\
                    #[cfg(test)]\nmod tests {\n    use crate::tests;\n";
        let uses = uses(text);
        let uses: Vec<_> = uses.iter().map(|(name, line)| (name.as_str(), *line)).collect();
        assert_eq!(uses, [("one", 2), ("two", 5), ("three", 5)]);
    }
}
