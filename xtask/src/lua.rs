//! luacheck over the scripts, in pieces and as Redis gets them.

use std::fs;
use std::process::Command;

use crate::cmd::{cargo, exists, run};
use crate::{Result, workspace};

/// Lints what people edit and what servers run: a piece alone can be clean and clash with another.
pub(crate) fn lint() -> Result {
    if !exists("luacheck") {
        return Err(
            "luacheck is missing: `cargo xtask setup` or `apt-get install lua-check`".into()
        );
    }
    let composed = workspace::target().join("lua");
    // Scripts that are no more are not to be linted.
    match fs::remove_dir_all(&composed) {
        Err(e) if composed.exists() => {
            return Err(format!("cannot empty {}: {e}", composed.display()));
        }
        _ => {}
    }
    let mut compose =
        cargo(&["run", "--quiet", "-p", "ratelimit-lua", "--example", "compose", "--"]);
    run(compose.arg(&composed))?;

    // From where its settings lie: they name files.
    let mut luacheck = Command::new("luacheck");
    luacheck.current_dir(workspace::root().join("lua"));
    run(luacheck.args(["--no-color", "--quiet", "."]).arg(&composed))
}
