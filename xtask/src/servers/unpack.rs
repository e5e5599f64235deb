//! From packages to a directory with one launcher per server.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use super::{PACKAGES, RELEASE, SERVERS, apt};
use crate::Result;
use crate::cmd::capture;

/// Makes `home`. It appears under its name only when it is complete: whoever finds it can use it,
/// and an interrupted run leaves nothing that counts as done.
pub(crate) fn into(home: &Path) -> Result {
    let dir = home.parent().unwrap_or(home);
    sweep(dir);
    let work = Work(dir.join(format!("{PARTIAL}{}", process::id())));
    eprintln!("fetching servers from Debian {RELEASE} into {}", dir.display());

    let mirror = apt::mirror()?;
    apt::Apt::new(&work.0, &mirror, RELEASE)?.download(PACKAGES)?;
    let made = work.0.join("made");
    let root = made.join("root");
    fs::create_dir_all(&root).map_err(failed("create", &root))?;
    // The directory holds what was downloaded, and nothing else.
    for package in files(&work.0.join("packages"), |_| true)? {
        capture(Command::new("dpkg").arg("--extract").arg(&package).arg(&root))?;
    }
    for (name, _) in SERVERS {
        write_launcher(&made, &root, name)?;
    }
    match fs::rename(&made, home) {
        Err(_) if home.exists() => Ok(()), // another run was faster
        renamed => renamed.map_err(failed("rename to", home)),
    }
}

const PARTIAL: &str = ".partial-";

/// The directory of one run; gone when the run is over, however it ended.
struct Work(PathBuf);

impl Drop for Work {
    fn drop(&mut self) {
        // What stays is swept by the next run.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what killed runs have left.
fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid =
            name.to_string_lossy().strip_prefix(PARTIAL).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a script that starts a server with its release's own loader and libraries. It finds them
/// from where it lies, so the whole directory can be moved.
fn write_launcher(made: &Path, root: &Path, name: &str) -> Result {
    let binary = ["server", "check-rdb"]
        .map(|tool| root.join(format!("usr/bin/{name}-{tool}")))
        .into_iter()
        .find(|file| file.exists())
        .ok_or_else(|| format!("the packages of {RELEASE} hold no {name}-server"))?;
    let one = |fits: fn(&str) -> bool| {
        let found = files(root, fits)?.into_iter().next();
        found.ok_or_else(|| format!("the packages of {RELEASE} do not fit this processor"))
    };
    let loader = one(|file| file.starts_with("ld-linux-"))?;
    let libc = one(|file| file == "libc.so.6")?;
    let below = |path: &Path| {
        let path = path.strip_prefix(made).unwrap_or(path);
        format!("$here/{}", path.display())
    };
    let script = format!(
        "#!/bin/sh\n\
         here=$(dirname \"$(readlink -f \"$0\")\")\n\
         exec \"{loader}\" --argv0 {name}-server --library-path \"{libraries}\" \"{binary}\" \"$@\"\n",
        loader = below(&loader),
        libraries = below(libc.parent().unwrap_or(root)),
        binary = below(&binary),
    );
    let launcher = made.join(name);
    fs::write(&launcher, script).map_err(failed("write", &launcher))?;
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&launcher, executable).map_err(failed("make executable", &launcher))
}

/// All files below `dir` whose name fits, in order. Links to directories are not followed.
fn files(dir: &Path, fits: impl Fn(&str) -> bool + Copy) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed("read", dir))? {
        let entry = entry.map_err(failed("read", dir))?;
        if entry.file_type().map_err(failed("read", dir))?.is_dir() {
            found.extend(files(&entry.path(), fits)?);
        } else if entry.path().file_name().and_then(OsStr::to_str).is_some_and(fits) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn failed(verb: &str, path: &Path) -> impl Fn(io::Error) -> String {
    move |error| format!("cannot {verb} {}: {error}", path.display())
}
