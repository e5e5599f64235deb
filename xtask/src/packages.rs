//! What is published must package, and build from its package alone.

use crate::cmd::{cargo, run};
use crate::{Result, workspace};

/// In the order in which they are published.
pub(crate) const PUBLISHED: &[&str] =
    &["ratelimit-lua", "ratelimit-macros", "ratelimit-runtime", "ratelimit-kit"];

/// Packages all of them and builds each from its package, in which path dependencies are gone.
pub(crate) fn check() -> Result {
    let mut command = cargo(&["package"]);
    if !workspace::in_ci() {
        // On a desk the tree has changes; in the gate a file that is not committed is an error.
        command.arg("--allow-dirty");
    }
    for name in PUBLISHED {
        command.args(["-p", name]);
    }
    run(&mut command)
}
