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

/// Each feature is on the page.
#[test]
fn f46_the_front_page_names_all_features() {
    let manifest = include_str!("../../Cargo.toml");
    let features = manifest.split("[features]").nth(1).unwrap().split("\n[").next().unwrap();
    let names: Vec<&str> = features
        .lines()
        .filter_map(|line| line.split_once(" = ["))
        .map(|(name, _)| name)
        .filter(|name| *name != "default")
        .collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        assert!(include_str!("../../src/front_page.md").contains(&format!("`{name}`")), "{name}");
    }
}
