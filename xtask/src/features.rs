//! Every feature alone: what compiles only together with another one is found here.

use std::fs;

use crate::cmd::{cargo, run};
use crate::{Result, workspace};

/// The packages that have features, and where their manifests are.
const PACKAGES: &[(&str, &str)] = &[
    ("ratelimit-kit", "Cargo.toml"),
    ("ratelimit-macros", "ratelimit-macros/Cargo.toml"),
    ("ratelimit-runtime", "ratelimit-runtime/Cargo.toml"),
];

/// Lints each package without features and with each one alone, and builds the tests of the lightest build.
pub(crate) fn check() -> Result {
    for (package, manifest) in PACKAGES {
        let text = fs::read_to_string(workspace::root().join(manifest))
            .map_err(|e| format!("cannot read {manifest}: {e}"))?;
        lint(package, None)?;
        for feature in names(&text).into_iter().filter(|name| *name != "default") {
            lint(package, Some(feature))?;
        }
    }
    run(cargo(LIGHTEST).arg("--no-run"))
}

/// Tests the lightest build.
pub(crate) fn test_lightest() -> Result {
    run(&mut cargo(LIGHTEST))
}

const LIGHTEST: &[&str] = &["test", "-p", "ratelimit-runtime", "--no-default-features", "--lib"];

fn lint(package: &str, feature: Option<&str>) -> Result {
    println!("{package}: {}", feature.unwrap_or("no features"));
    let mut command =
        cargo(&["clippy", "--quiet", "--lib", "-p", package, "--no-default-features"]);
    if let Some(feature) = feature {
        command.args(["--features", feature]);
    }
    run(command.args(["--", "-D", "warnings"]))
}

/// The names in the `[features]` table of a manifest, as we write manifests: one per line.
fn names(manifest: &str) -> Vec<&str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = [").map(|(name, _)| name))
        .filter(|name| !name.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn the_features_of_a_manifest() {
        let manifest = "[package]\nname = [\"no\"]\n\n[features]\ndefault = [\"redis\"]\n# x = [\n\
                        redis = [\n  \"dep:redis\",\n]\n\n[dependencies]\nserde = [\"no\"]\n";
        assert_eq!(names(manifest), ["default", "redis"]);
        assert!(names("[package]\n").is_empty());
    }
}
