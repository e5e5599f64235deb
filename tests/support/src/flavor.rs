//! Which server.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::lacking;

/// A server to test against.
///
/// When the machine does not have it, the test process ends with one sentence that says how to
/// get it; nothing is ever skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// The `redis-server` of this machine.
    Installed,
    /// Redis 8.0, unpacked by `cargo xtask servers`.
    Redis8,
    /// Valkey 8.1, unpacked by `cargo xtask servers`.
    Valkey8,
}

impl Flavor {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Installed, Self::Redis8, Self::Valkey8];

    /// The program that starts this server.
    pub(crate) fn program(self) -> PathBuf {
        let unpacked = match self {
            Self::Installed => return installed("redis-server"),
            Self::Redis8 => "redis",
            Self::Valkey8 => "valkey",
        };
        let dir = servers_dir();
        let launchers = [dir.join("trixie").join(unpacked), dir.join(unpacked)];
        launchers.into_iter().find(|launcher| launcher.exists()).unwrap_or_else(|| {
            lacking::end(&format!("the tests need {self}, which is not in {}", dir.display()))
        })
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Installed => "the installed Redis",
            Self::Redis8 => "Redis 8.0",
            Self::Valkey8 => "Valkey 8.1",
        })
    }
}

fn installed(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file());
    found.unwrap_or_else(|| {
        lacking::end(&format!("the tests need {program}, which is not installed"))
    })
}

/// Where `cargo xtask setup` puts them, unless `RATELIMIT_TEST_SERVERS` names another folder: one that
/// `cargo xtask servers` has made, or one with the programs `redis` and `valkey`.
fn servers_dir() -> PathBuf {
    env::var_os("RATELIMIT_TEST_SERVERS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.servers"), PathBuf::from)
}
