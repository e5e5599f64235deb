//! `cargo xtask setup`: brings to this machine what the tests need, and says first what it will do.

use crate::{Result, deny, install, servers};

/// What there can be to do: what is missing, and what brings it.
struct Part {
    /// Says what it would do, or nothing if all of it is there.
    missing: fn() -> Result<Option<String>>,
    bring: fn() -> Result,
}

const PARTS: &[Part] = &[
    Part { missing: || Ok(install::plan()), bring: install::missing },
    Part { missing: servers::plan, bring: || servers::run(None) },
    Part { missing: || Ok(deny::plan()), bring: deny::install },
];

/// Brings what is missing. Says all of it before it begins.
pub(crate) fn run() -> Result {
    let mut missing = Vec::new();
    for part in PARTS {
        if let Some(plan) = (part.missing)()? {
            missing.push((plan, part.bring));
        }
    }
    if missing.is_empty() {
        println!("nothing is missing");
        return Ok(());
    }
    println!("this will");
    for (plan, _) in &missing {
        println!("  {plan}");
    }
    missing.into_iter().try_for_each(|(_, bring)| bring())
}

/// Whether all of it is there; changes nothing.
pub(crate) fn check() -> Result {
    let mut missing = Vec::new();
    for part in PARTS {
        missing.extend((part.missing)()?);
    }
    if missing.is_empty() {
        println!("nothing is missing");
        return servers::list();
    }
    Err(format!(
        "something that the tests need is missing. Run `cargo xtask setup` first, which will {}",
        missing.join(", ")
    ))
}
