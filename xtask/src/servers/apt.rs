//! Fetching packages of another Debian release without touching the machine's own lists.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cmd::{capture, run};

/// What signs Debian's releases; newer releases are signed with the keys of older ones too.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The Debian mirror that this machine uses.
pub(crate) fn mirror() -> Result<String> {
    if let Some(mirror) = known_mirror()? {
        return Ok(mirror);
    }
    // Without lists apt knows of no index. Needs root; the sentence below says what to do otherwise.
    let updated = run(Command::new("apt-get").args(["-qq", "update"]));
    known_mirror()?.ok_or_else(|| {
        let cause = updated.err().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("no Debian mirror is configured: run `apt-get update` on a Debian machine{cause}")
    })
}

fn known_mirror() -> Result<Option<String>> {
    let targets = capture(Command::new("apt-get").args(["indextargets", "--format", "$(URI)"]))?;
    Ok(targets.lines().find_map(mirror_of).map(str::to_owned))
}

/// `http://host/debian/dists/...` is an index of the mirror `http://host/debian`. The archive of
/// security updates ends in another word, and holds no whole release.
fn mirror_of(index: &str) -> Option<&str> {
    let (mirror, _) = index.split_once("/dists/")?;
    mirror.ends_with("/debian").then_some(mirror)
}

/// An apt of its own: sources, lists and cache below `dir`.
pub(crate) struct Apt<'a> {
    dir: &'a Path,
}

impl<'a> Apt<'a> {
    /// Reads the lists of one release.
    pub(crate) fn new(dir: &'a Path, mirror: &str, release: &str) -> Result<Self> {
        for sub in ["lists/partial", "archives/partial", "packages"] {
            make(&dir.join(sub))?;
        }
        let signed = if Path::new(KEYRING).exists() {
            format!("[signed-by={KEYRING}] ")
        } else {
            String::new()
        };
        let sources = format!("deb {signed}{mirror} {release} main\n");
        fs::write(dir.join("sources.list"), sources)
            .map_err(|e| format!("cannot write a list: {e}"))?;
        let apt = Self { dir };
        capture(apt.command().arg("update"))?;
        Ok(apt)
    }

    /// Downloads packages into `packages/`.
    pub(crate) fn download(&self, packages: &[&str]) -> Result {
        let mut command = self.command();
        command.current_dir(self.dir.join("packages")).arg("download").args(packages);
        capture(&mut command).map(drop)
    }

    fn command(&self) -> Command {
        let below = |name: &str, sub: &str| format!("{name}={}", self.dir.join(sub).display());
        let mut command = Command::new("apt-get");
        command.arg("-qq");
        for option in [
            below("Dir::Etc::sourcelist", "sources.list"),
            below("Dir::State::lists", "lists"),
            below("Dir::Cache::archives", "archives"),
            "Dir::Etc::sourceparts=/dev/null".to_owned(),
            "Dir::Cache::pkgcache=".to_owned(),
            "Dir::Cache::srcpkgcache=".to_owned(),
            // The user that apt drops to cannot be expected to read our directory.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::Retries=3".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        command
    }
}

fn make(dir: &Path) -> Result {
    fs::create_dir_all(dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::mirror_of;

    #[test]
    fn a_mirror_is_what_stands_before_the_release() {
        let index = "http://mirror.example/debian/dists/stable/main/binary-amd64/Packages";
        assert_eq!(mirror_of(index), Some("http://mirror.example/debian"));
        assert_eq!(mirror_of("http://mirror.example/debian-security/dists/stable/x"), None);
        assert_eq!(mirror_of("http://mirror.example/other/"), None);
    }
}
