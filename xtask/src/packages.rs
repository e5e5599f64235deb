//! What is published must package, and build from its package alone.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::cmd::{cargo, run};
use crate::{Result, workspace};

/// In the order in which they are published.
pub(crate) const PUBLISHED: &[&str] =
    &["ratelimit-lua", "ratelimit-macros", "ratelimit-runtime", "ratelimit-kit"];

/// Packages all of them and builds each from its package, in which path dependencies are gone.
pub(crate) fn check() -> Result {
    // Of its own and new, and so is what cargo unpacks: it takes a package of the same version for the
    // same package, and would look at those of before.
    let target = workspace::target().join("packages");
    let _ = fs::remove_dir_all(&target);
    let home = target.join("home");
    make_home(&home)?;
    let mut command = cargo(&["package", "--target-dir"]);
    command.arg(&target).env("CARGO_HOME", &home);
    if !workspace::in_ci() {
        // On a desk the tree has changes; in the gate a file that is not committed is an error.
        command.arg("--allow-dirty");
    }
    for name in PUBLISHED {
        command.args(["-p", name]);
    }
    run(&mut command)
}

/// A home for cargo that shows what there is in the usual one, settings and what was downloaded, and in which
/// it can unpack our packages.
fn make_home(home: &Path) -> Result {
    let usual = env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = usual.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")));
    let usual = usual.ok_or_else(|| "neither CARGO_HOME nor HOME is set".to_owned())?;
    show(&usual, home, "config.toml")?;
    show(&usual, home, "git")?;
    for kind in ["index", "cache", "src"] {
        let folder = Path::new("registry").join(kind);
        let entries = fs::read_dir(usual.join(&folder)).into_iter().flatten().flatten();
        for name in entries.map(|entry| entry.file_name()) {
            // Packages that are not published are unpacked in folders whose names begin with `-`.
            if !name.as_encoded_bytes().starts_with(b"-") {
                show(&usual, home, folder.join(name))?;
            }
        }
    }
    Ok(())
}

/// Links a file or folder of the usual home, if it is there.
fn show(usual: &Path, home: &Path, path: impl AsRef<Path>) -> Result {
    let (real, shown) = (usual.join(&path), home.join(&path));
    if !real.exists() {
        return Ok(());
    }
    let folder = shown.parent().unwrap_or(home);
    fs::create_dir_all(folder)
        .and_then(|()| symlink(&real, &shown))
        .map_err(|e| format!("cannot link {}: {e}", shown.display()))
}
