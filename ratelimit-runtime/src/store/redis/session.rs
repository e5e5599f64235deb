//! What one call of a store works with.

use std::sync::Arc;

use redis::Value;

use super::command;
use super::executor::Servers;
use super::naming::KeyNaming;
use super::prepared::{Prepared, PreparedChecks, prepare};
use super::reply;
use crate::clock::Clock;
use crate::error::{ConfigError, StoreError};
use crate::rule::Check;
use crate::store::Answers;

/// Where scripts run, how keys are named, and whose time counts.
#[derive(Clone, Copy)]
pub(super) struct Session<'s> {
    pub(super) servers: &'s Arc<Servers>,
    pub(super) naming: KeyNaming<'s>,
    pub(super) clock: &'s Clock,
}

impl Session<'_> {
    /// The caller's time in microseconds, if it counts and not the server's.
    pub(super) fn now_us(&self) -> Option<i64> {
        self.clock.sent_ns().map(|ns| ns.div_euclid(1_000))
    }

    pub(super) fn prepare<'c>(
        &self,
        checks: &'c [Check<'c>],
    ) -> Result<PreparedChecks<'c>, ConfigError> {
        prepare(self.naming, checks)
    }

    /// Decides checks of one slot, by one script call.
    pub(super) async fn decide(&self, checks: &[Prepared<'_>]) -> Result<Value, StoreError> {
        self.servers.run(&command::decide(checks, self.now_us())).await
    }

    /// What would be decided of checks of one slot.
    pub(super) async fn preview(&self, checks: &[Prepared<'_>]) -> Result<Answers, StoreError> {
        let reply = self.servers.run(&command::preview(checks, self.now_us())).await?;
        reply::preview(&reply, checks)
    }
}
