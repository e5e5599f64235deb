//! The public surface of the crates, as text in the repository: no change of it is overlooked in review.
//!
//! rustdoc says what is public, as JSON, which is unstable in form and so asked of the pinned compiler only. It is
//! built with what the other steps have compiled: only our rustdoc gets the variable that makes it unstable, since
//! build scripts of dependencies look at it too and all would be compiled anew.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::cmd::{cargo, run};
use crate::{Result, workspace};

/// The facade, which is what users name, and the runtime, which has the items.
const CRATES: &[&str] = &["ratelimit_kit", "ratelimit_runtime"];

/// Set for the rustdoc that cargo starts, which is this program.
const IS_RUSTDOC: &str = "RATELIMIT_XTASK_IS_RUSTDOC";

/// Fails if the surface is another one than the listing says.
pub(crate) fn check() -> Result {
    let mut changed = String::new();
    for (name, listing) in listings()? {
        let path = path(name);
        let known = fs::read_to_string(&path).unwrap_or_default();
        let (known, listing): (Vec<_>, Vec<_>) =
            (known.lines().collect(), listing.lines().collect());
        for (sign, ones, others) in [('-', &known, &listing), ('+', &listing, &known)] {
            for line in ones.iter().filter(|line| !others.contains(line)) {
                let _ = write!(changed, "\n{sign} {line}");
            }
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public surface is not as listed: `cargo xtask api --bless` writes it anew{changed}"
    ))
}

/// Writes the listing anew.
pub(crate) fn bless() -> Result {
    for (name, listing) in listings()? {
        let path = path(name);
        fs::write(&path, listing).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    Ok(())
}

fn path(name: &str) -> PathBuf {
    workspace::root().join("docs/api").join(name).with_extension("txt")
}

/// One line for each public item of each crate.
fn listings() -> Result<Vec<(&'static str, String)>> {
    let out = workspace::target().join("api");
    let this = env::current_exe().map_err(|e| format!("where am I? {e}"))?;
    // All of the workspace, since fewer packages have fewer features, and everything would be compiled for them.
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps", "--quiet"]);
    doc.env("CARGO_TARGET_DIR", &out).env("CARGO_BUILD_BUILD_DIR", workspace::target());
    doc.env("RUSTDOC", this).env(IS_RUSTDOC, "1");
    run(doc.env("RUSTDOCFLAGS", "-Zunstable-options --output-format json"))?;
    let listing = |name: &'static str| {
        let json = out.join("doc").join(name).with_extension("json");
        let api = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .map_err(|e| format!("{}: {e}", json.display()))?;
        Ok((name, api.to_string()))
    };
    CRATES.iter().copied().map(listing).collect()
}

/// Is the rustdoc that cargo has asked for, if it has.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    env::var_os(IS_RUSTDOC)?;
    let args: Vec<_> = env::args_os().skip(1).collect();
    let crate_name = args.iter().skip_while(|arg| *arg != "--crate-name").nth(1);
    if crate_name.is_some_and(|name| CRATES.iter().all(|one| name != one)) {
        return Some(ExitCode::SUCCESS);
    }
    let status = Command::new("rustdoc").args(args).env("RUSTC_BOOTSTRAP", "1").status();
    let is_done = status.is_ok_and(|status| status.success());
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
