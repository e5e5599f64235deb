//! Servers of other versions beside the installed one, for the runs that compare them.
//!
//! They come from Debian 13 and run on that release's own libraries, unpacked into one directory:
//! nothing is installed, and the directory can be deleted or moved at any time.

mod apt;
mod unpack;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cmd::capture;
use crate::{Result, workspace};

/// The Debian release that has Redis 8.0 and Valkey 8.1.
const RELEASE: &str = "trixie";

/// The servers, and the version that the tests are about.
const SERVERS: &[(&str, &str)] = &[("redis", "8.0."), ("valkey", "8.1.")];

/// Both servers are symbolic links into their tools; the rest is what they are linked against.
const PACKAGES: &[&str] = &[
    "redis-tools",
    "valkey-tools",
    "libatomic1",
    "libc6",
    "libcap2",
    "libgcc-s1",
    "libjemalloc2",
    "liblzf1",
    "libssl3t64",
    "libstdc++6",
    "libsystemd0",
    "libzstd1",
    "zlib1g",
];

/// Unpacks the servers where they are not yet, and prints one line each: NAME VERSION LAUNCHER.
/// A launcher takes the server's own arguments.
pub(crate) fn run(dir: Option<OsString>) -> Result {
    let dir = dir.map_or_else(|| workspace::root().join(".servers"), PathBuf::from);
    fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    let dir = dir.canonicalize().map_err(|e| format!("cannot find {}: {e}", dir.display()))?;
    let home = dir.join(RELEASE);
    if !home.exists() {
        unpack::into(&home)?;
    }
    for (name, wanted) in SERVERS {
        let launcher = home.join(name);
        let version = version(&launcher)?;
        if !version.starts_with(wanted) {
            let launcher = launcher.display();
            return Err(format!("{launcher} is {name} {version}, and the tests want {wanted}x"));
        }
        println!("{name} {version} {}", launcher.display());
    }
    Ok(())
}

/// The version that a server says it has: `... v=8.0.2 ...`.
fn version(launcher: &Path) -> Result<String> {
    let said = capture(Command::new(launcher).arg("--version"))?;
    let version = said.split_whitespace().find_map(|word| word.strip_prefix("v="));
    version.map(str::to_owned).ok_or_else(|| format!("{} tells no version", launcher.display()))
}
