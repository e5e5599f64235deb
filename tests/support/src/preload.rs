//! A library in front of the C library, for what a test cannot do to a process in safe Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::lacking;
use crate::scratch::Scratch;

/// Lets a command load it.
pub(crate) fn apply(command: &mut Command) {
    command.env("LD_PRELOAD", library());
}

/// Compiled by whatever links Rust programs.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<(Scratch, PathBuf)> = OnceLock::new();
    let (_, library) = LIBRARY.get_or_init(|| {
        let scratch = Scratch::new();
        let (source, library) =
            (scratch.path().join("preload.c"), scratch.path().join("preload.so"));
        fs::write(&source, include_str!("preload.c")).unwrap();
        let mut compile = Command::new("cc");
        compile
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .args([&library, &source]);
        match compile.status() {
            Ok(status) if status.success() => {}
            _ => lacking::end("the tests need a C compiler with its headers"),
        }
        (scratch, library)
    });
    library
}
