//! The page of docs.rs: it stands alone there.

/// What a link leads to, of `[text](target)`, `[name]: target` and `](target)`.
fn targets(page: &str) -> Vec<&str> {
    let inline = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = definitions(page).into_iter().map(|(_, target)| target);
    inline.chain(named).collect()
}

/// F46: 16 links of the front page led to files of the repository, which are not there.
#[test]
fn f46_no_link_of_the_front_page_is_relative() {
    let page = include_str!("../../src/front_page.md");
    let targets = targets(page);
    assert!(targets.len() > 9, "{targets:?}");
    for target in targets {
        let is_there = target.starts_with("macro@") || target.starts_with("guide::");
        assert!(is_there, "{target}");
    }
    for target in ["key.md", "rate_limit.md"] {
        let text = std::fs::read_to_string(
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(target),
        );
        for link in self::targets(&text.unwrap()) {
            assert!(!link.contains(".md"), "{target}: {link}");
        }
    }
}

/// Each guide is on the page, and each page of `docs` is a guide. That links of the built pages lead somewhere is
/// held by `cargo xtask links`.
#[test]
fn f46_the_guides_are_there() {
    let page = include_str!("../../src/front_page.md");
    let guides = include_str!("../../src/guide/mod.rs");
    let mut found = 0;
    let pages = guides.lines().filter(|line| line.ends_with(".md\";"));
    for (name, file) in pages.filter_map(|line| line.trim().split_once(" = \"")) {
        let file = file.trim_end_matches("\";");
        assert!(page.contains(&format!("](guide::{name})")), "{name} is not on the front page");
        assert!(docs().iter().any(|(doc, _)| doc == file), "{file}");
        found += 1;
    }
    assert_eq!(found, docs().len());
}

/// The pages of `docs`, by file.
fn docs() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The definitions of links in a text.
fn definitions(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
        .filter(|(label, _)| !label.contains(' '))
        .collect()
}

/// Pages link to each other by definitions, which lead to files in the repository and to guides in the
/// documentation: every label is defined for both, and both lead to the same place.
#[test]
fn f46_links_between_guides_work_in_both_places() {
    let for_rustdoc = definitions(include_str!("../../src/guide/links.md"));
    let guides = include_str!("../../src/guide/mod.rs");
    let mut seen = std::collections::BTreeSet::new();
    for (file, text) in docs() {
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            let stays = target.starts_with("https://") || target.starts_with('#');
            assert!(stays, "{file}: `{target}` must be a definition at the end");
        }
        for (label, target) in definitions(&text) {
            let there = for_rustdoc.iter().find(|(other, _)| *other == label);
            let (_, there) = there.unwrap_or_else(|| panic!("{label} is not in links.md"));
            seen.insert(label.to_owned());
            if let Some(example) = target.strip_prefix("../") {
                assert!(there.ends_with(&format!("/blob/main/{example}")), "{label}");
            } else if let Some((page, place)) = target.split_once(".md") {
                let name = there.strip_prefix("crate::guide::").unwrap();
                let name = name.split('#').next().unwrap();
                assert!(guides.contains(&format!("{name} = \"{page}.md\";")), "{label}");
                assert!(there.ends_with(place), "{label}");
            } else {
                assert!(target.starts_with("https://docs.rs/ratelimit-kit/"), "{label}: {target}");
            }
            assert!(text.matches(&format!("[{label}]")).count() > 1, "{file}: {label} is not used");
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
    for (label, _) in for_rustdoc {
        assert!(seen.contains(label), "links.md: {label} is not used");
    }
}

/// The features of a manifest, and what each brings.
fn features(manifest: &str) -> Vec<(&str, Vec<&str>)> {
    let features = manifest.split("[features]").nth(1).unwrap().split("\n[").next().unwrap();
    let lines = features.lines().filter_map(|line| line.split_once(" = ["));
    lines
        .map(|(name, list)| {
            let brought = list.trim_end_matches(']').split(", ").map(|one| one.trim_matches('"'));
            (name, brought.collect())
        })
        .collect()
}

/// What needs a feature of the runtime is exported here under the feature of the same name: `axum` alone must
/// bring `RateLimitLayer`, which is behind `tower`.
#[test]
fn a_feature_brings_here_what_it_brings_in_the_runtime() {
    let ours = features(include_str!("../../Cargo.toml"));
    let mut compared = 0;
    for (name, brought) in features(include_str!("../../ratelimit-runtime/Cargo.toml")) {
        let Some((_, here)) = ours.iter().find(|(our, _)| *our == name) else { continue };
        for other in brought.into_iter().filter(|other| ours.iter().any(|(our, _)| our == other)) {
            assert!(here.contains(&other), "`{name}` brings `{other}` in the runtime and not here");
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}

/// Each feature is on the page.
#[test]
fn f46_the_front_page_names_all_features() {
    let features = features(include_str!("../../Cargo.toml"));
    let names: Vec<&str> =
        features.iter().map(|(name, _)| *name).filter(|name| *name != "default").collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        assert!(include_str!("../../src/front_page.md").contains(&format!("`{name}`")), "{name}");
    }
}
