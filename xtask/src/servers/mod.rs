//! Servers of other versions beside the installed one, for the runs that compare them.
//!
//! They come from Debian 13 and run on that release's own libraries, unpacked into one directory:
//! nothing is installed, and the directory can be deleted or moved at any time.

mod apt;
mod unpack;

use std::env;
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

/// Names a folder with the programs `redis` and `valkey` of the right versions: nothing is unpacked then.
const GIVEN: &str = "RATELIMIT_TEST_SERVERS";

/// What would be unpacked.
pub(crate) fn plan() -> Result<Option<String>> {
    if env::var_os(GIVEN).is_some() {
        // If they are not what they should be, this says so.
        return given().map(|_| None);
    }
    let dir = default_dir();
    let unpack =
        || format!("unpack Redis 8.0 and Valkey 8.1 of Debian {RELEASE} into {}", dir.display());
    Ok((!dir.join(RELEASE).exists()).then(unpack))
}

/// Prints one line for each server that the tests will use.
pub(crate) fn list() -> Result {
    if env::var_os(GIVEN).is_some() {
        print(&given()?)
    } else {
        print(&default_dir().join(RELEASE))
    }
}

/// The folder that the environment names.
fn given() -> Result<PathBuf> {
    let dir = env::var_os(GIVEN).map(PathBuf::from).unwrap_or_default();
    // That of `cargo xtask servers DIR`, or one with the programs in it.
    let homes = [dir.join(RELEASE), dir.clone()];
    let complete = |home: &PathBuf| SERVERS.iter().all(|(name, _)| home.join(name).exists());
    homes.into_iter().find(complete).ok_or_else(|| {
        format!("{GIVEN} is {}, where there is no `redis` and `valkey`", dir.display())
    })
}

fn default_dir() -> PathBuf {
    workspace::root().join(".servers")
}

/// Unpacks the servers where they are not yet, and prints one line each: NAME VERSION LAUNCHER.
/// A launcher takes the server's own arguments.
pub(crate) fn run(dir: Option<OsString>) -> Result {
    let dir = dir.map_or_else(default_dir, PathBuf::from);
    fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    let dir = dir.canonicalize().map_err(|e| format!("cannot find {}: {e}", dir.display()))?;
    let home = dir.join(RELEASE);
    if !home.exists() {
        unpack::into(&home)?;
    }
    print(&home)
}

/// One line for each server of a folder, if their versions are right.
fn print(home: &Path) -> Result {
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
