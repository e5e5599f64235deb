//! Where things are.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    // Asked at run time first: a target directory can be shared by several checkouts.
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or(here.clone(), Path::to_path_buf)
}

/// Whether we run in the gate of the project rather than on somebody's desk.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value != "false" && !value.is_empty())
}

/// Where built things go: as cargo decides it.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
