//! The attribute in crates of other editions: they compile without a word from the compiler.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn crates_of_every_edition_compile() {
    for edition in ["2018", "2021", "2024"] {
        let said = said_of(edition, "ratelimit-kit", "");
        assert!(said.is_empty(), "edition {edition}:\n{said}");
    }
}

/// The name that the manifest gives to the crate is found without `crate = ..`.
#[test]
fn a_crate_that_the_manifest_calls_otherwise_is_found() {
    let said = said_of("2021", "rl", "package = \"ratelimit-kit\"\n");
    assert!(said.is_empty(), "{said}");
}

/// What the compiler says of the program, in a crate of this edition that calls its dependency `name`.
fn said_of(edition: &str, name: &str, renamed: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = format!("edition-{edition}-{name}");
    let path = folder.join(&package);
    fs::create_dir_all(path.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n\
         [dependencies.{name}]\n{renamed}path = {:?}\ndefault-features = false\n\n[workspace]\n",
        root.display().to_string()
    );
    fs::write(path.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), path.join("Cargo.lock")).unwrap();
    let program = fs::read_to_string(root.join("tests/editions/program.rs")).unwrap();
    let program = program.replace("ratelimit_kit", &name.replace('-', "_"));
    fs::write(path.join("src/lib.rs"), program).unwrap();

    let checked = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--quiet", "--offline"])
        .current_dir(&path)
        .env("CARGO_TARGET_DIR", folder.join("editions"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert_eq!(checked.status.success(), said.is_empty(), "{said}");
    said
}
