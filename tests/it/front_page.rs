//! The page of docs.rs: it stands alone there.

/// What a link leads to, of `[text](target)`, `[name]: target` and `](target)`.
fn targets(page: &str) -> Vec<&str> {
    let inline = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = page.lines().filter(|line| line.starts_with('[')).filter_map(|line| {
        let (_, target) = line.split_once("]: ")?;
        Some(target)
    });
    inline.chain(named).collect()
}

/// F46: 16 links of the front page led to files of the repository, which are not there.
#[test]
fn f46_no_link_of_the_front_page_is_relative() {
    let page = include_str!("../../src/front_page.md");
    let targets = targets(page);
    assert!(targets.len() > 9, "{targets:?}");
    for target in targets {
        let is_there = target.starts_with("https://") || target.starts_with("macro@");
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

/// The pages that it leads to are in the repository.
#[test]
fn f46_the_guides_are_there() {
    let page = include_str!("../../src/front_page.md");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let guides: Vec<&str> = targets(page)
        .into_iter()
        .filter_map(|target| target.split_once("/blob/main/"))
        .map(|(_, path)| path)
        .collect();
    assert!(guides.len() >= 8, "{guides:?}");
    for guide in guides {
        assert!(root.join(guide).is_file(), "{guide}");
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
