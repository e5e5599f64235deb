//! Brings what the tests need from the system's package manager, and says so.

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
    // A client, a gateway and load for tests over HTTP.
    Package { name: "curl", present: || exists("curl") },
    Package { name: "nginx-light", present: || Path::new("/usr/sbin/nginx").exists() },
    Package { name: "wrk", present: || Path::new("/usr/bin/wrk").exists() },
    // Builds libFuzzer, and what is loaded into test processes to move their clocks.
    Package { name: "g++", present: || exists("c++") },
];

/// What would be installed.
pub(crate) fn plan() -> Option<String> {
    let missing = names();
    (!missing.is_empty()).then(|| format!("install {} with apt-get", missing.join(" ")))
}

/// The packages that are missing.
fn names() -> Vec<&'static str> {
    PACKAGES.iter().filter(|package| !(package.present)()).map(|package| package.name).collect()
}

/// Installs the packages that are missing.
pub(crate) fn missing() -> Result {
    let missing = names();
    let names = missing.join(" ");
    if !exists("apt-get") {
        return Err(format!("the tests need {names}, and there is no apt-get here to install it"));
    }
    if !is_root()? && !exists("sudo") {
        return Err(format!("as root, run `apt-get install {names}`, then start this again"));
    }
    println!("installing {names} with apt-get (the tests start their own servers)");
    let install = || apt_get(&["install", "-y", "--no-install-recommends"], &missing);
    install().or_else(|_| {
        // A fresh image has no lists, an old one has stale lists.
        println!("its lists are missing or stale: updating them");
        apt_get(&["update"], &[])?;
        install()
    })?;
    match PACKAGES.iter().find(|package| !(package.present)()) {
        None => Ok(()),
        Some(package) => Err(format!("{} was installed, but is not to be found", package.name)),
    }
}

fn apt_get(verb: &[&str], packages: &[&str]) -> Result {
    let program = if is_root()? { "env" } else { "sudo" };
    let mut command = Command::new(program);
    if program == "sudo" {
        command.arg("env");
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]);
    // Somebody else may be installing something: wait for that.
    command.args(["-o", "DPkg::Lock::Timeout=120"]).args(verb).args(packages);
    // Its many words are of interest only when it fails.
    capture(&mut command).map(drop)
}

fn is_root() -> Result<bool> {
    Ok(capture(Command::new("id").arg("-u"))?.trim() == "0")
}
