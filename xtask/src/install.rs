//! Brings what the tests need from the system's package manager, and says so.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cmd::{capture, exists};

/// A Debian package and how to see that it is there.
struct Package {
    name: &'static str,
    present: fn() -> bool,
}

const PACKAGES: &[Package] = &[
    Package { name: "redis-server", present: || exists("redis-server") },
    Package { name: "lua-check", present: || exists("luacheck") },
    // Moves the wall clock of one test process.
    Package { name: "libfaketime", present: has_libfaketime },
];

/// Installs the packages that are missing.
pub(crate) fn missing() -> Result {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|package| !(package.present)())
        .map(|package| package.name)
        .collect();
    if missing.is_empty() {
        println!("nothing is missing");
        return Ok(());
    }
    let names = missing.join(" ");
    if !exists("apt-get") {
        return Err(format!("the tests need {names}, and there is no apt-get here to install it"));
    }
    println!("installing {names} with apt-get");
    apt_get(&["install", "-y", "--no-install-recommends"], &missing).or_else(|_| {
        // A fresh image has no lists, an old one has stale lists.
        println!("its lists are missing or stale: updating them");
        apt_get(&["update"], &[])?;
        apt_get(&["install", "-y", "--no-install-recommends"], &missing)
    })?;
    match PACKAGES.iter().find(|package| !(package.present)()) {
        None => Ok(()),
        Some(package) => Err(format!("{} was installed, but is not to be found", package.name)),
    }
}

fn apt_get(verb: &[&str], packages: &[&str]) -> Result {
    let mut command = if is_root()? {
        Command::new("apt-get")
    } else if exists("sudo") {
        let mut sudo = Command::new("sudo");
        sudo.args(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    } else {
        let names = packages.join(" ");
        return Err(format!("as root, run `apt-get install {names}`, then start this again"));
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(verb).args(packages);
    // Its many words are of interest only when it fails.
    capture(&mut command).map(drop)
}

fn is_root() -> Result<bool> {
    Ok(capture(Command::new("id").arg("-u"))?.trim() == "0")
}

fn has_libfaketime() -> bool {
    let Ok(triplets) = fs::read_dir("/usr/lib") else { return false };
    triplets
        .flatten()
        .any(|dir| Path::new(&dir.path()).join("faketime/libfaketimeMT.so.1").exists())
}
