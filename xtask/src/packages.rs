//! What is published must package, and build from its package alone.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::cmd::{cargo, run};
use crate::{Result, workspace};

/// In the order in which they are published.
pub(crate) const PUBLISHED: &[&str] =
    &["ratelimit-lua", "ratelimit-macros", "ratelimit-runtime", "ratelimit-kit"];

/// Packages all of them and builds each from its package, in which path dependencies are gone.
pub(crate) fn check() -> Result {
    forget_earlier();
    // Of its own and new, for the same reason.
    let target = workspace::root().join("target/packages");
    let _ = fs::remove_dir_all(&target);
    let mut command = cargo(&["package", "--target-dir"]);
    command.arg(&target);
    if !workspace::in_ci() {
        // On a desk the tree has changes; in the gate a file that is not committed is an error.
        command.arg("--allow-dirty");
    }
    for name in PUBLISHED {
        command.args(["-p", name]);
    }
    run(&mut command)
}

/// Removes what cargo has unpacked when the packages were checked before: it takes a package of the
/// same version for the same package. The folders of such registries, which are none, begin with `-`.
fn forget_earlier() {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")));
    let Some(home) = home else { return };
    for kind in ["src", "cache"] {
        let folders =
            fs::read_dir(home.join("registry").join(kind)).into_iter().flatten().flatten();
        let unpacked =
            folders.filter(|folder| folder.file_name().as_encoded_bytes().starts_with(b"-"));
        for entry in
            unpacked.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if PUBLISHED.iter().any(|ours| name.starts_with(&format!("{ours}-"))) {
                let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
            }
        }
    }
}
