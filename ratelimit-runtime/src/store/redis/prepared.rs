//! Checks with what is made of them once for each call.

use smallvec::SmallVec;

use super::naming::KeyNaming;
use super::slot::Slot;
use crate::algo::Resolution;
use crate::error::ConfigError;
use crate::rule::{Check, Plan};

/// A check, ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Prepared<'c> {
    check: &'c Check<'c>,
    pub(super) plan: Plan,
    /// The name of its Redis key.
    pub(super) key: String,
    /// Where that key lies.
    pub(super) slot: Slot,
}

/// The checks of one call.
pub(super) type PreparedChecks<'c> = SmallVec<[Prepared<'c>; 1]>;

/// Prepares checks. Fails if one of them has invalid parameters.
pub(super) fn prepare<'c>(
    naming: KeyNaming<'_>,
    checks: &'c [Check<'c>],
) -> Result<PreparedChecks<'c>, ConfigError> {
    checks.iter().map(|check| Prepared::new(naming, check)).collect()
}

impl<'c> Prepared<'c> {
    pub(super) fn new(naming: KeyNaming<'_>, check: &'c Check<'c>) -> Result<Self, ConfigError> {
        let plan = check.plan(Resolution::Micros)?;
        let key = naming.key(check);
        let slot = naming.slot(&key);
        Ok(Self { check, plan, key, slot })
    }

    pub(super) const fn cost(&self) -> u64 {
        self.check.cost()
    }

    /// Whether everybody shares its budget, because its rule has no key.
    pub(super) fn is_shared(&self) -> bool {
        self.check.key().as_str().is_empty()
    }

    pub(super) fn is_shadow(&self) -> bool {
        self.check.is_shadow()
    }

    /// Whether the call goes on, as far as this check says.
    pub(super) fn lets_pass(&self, admits: bool) -> bool {
        self.check.lets_pass(admits)
    }
}
