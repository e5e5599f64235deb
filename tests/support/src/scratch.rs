//! Directories that last as long as what lives in them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::unique::unique;

/// A directory of its own, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

const STEM: &str = "ratelimit-test";

impl Scratch {
    pub(crate) fn new() -> Self {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(sweep);
        // Short: the path of a unix socket has little more than 100 bytes.
        let dir = env::temp_dir().join(unique(STEM));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what earlier test processes left: statics are not dropped, and some were killed.
fn sweep() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_string_lossy();
        let pid =
            rest.strip_prefix(STEM).and_then(|rest| rest.split('-').nth(1)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
