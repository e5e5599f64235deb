//! The attribute in crates of other editions: they compile without a word from the compiler.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn crates_of_every_edition_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for edition in ["2018", "2021", "2024"] {
        let name = format!("edition-{edition}");
        let path = folder.join(&name);
        fs::create_dir_all(path.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n\
             [dependencies.ratelimit-kit]\npath = {:?}\ndefault-features = false\n\n[workspace]\n",
            root.display().to_string()
        );
        fs::write(path.join("Cargo.toml"), manifest).unwrap();
        fs::copy(root.join("Cargo.lock"), path.join("Cargo.lock")).unwrap();
        fs::copy(root.join("tests/editions/program.rs"), path.join("src/lib.rs")).unwrap();

        let checked = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["check", "--quiet", "--offline"])
            .current_dir(&path)
            .env("CARGO_TARGET_DIR", folder.join("editions"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success() && said.is_empty(), "edition {edition}:\n{said}");
    }
}
