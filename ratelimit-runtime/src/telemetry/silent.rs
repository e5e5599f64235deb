//! Without the feature: there are no numbers.

use std::time::{Duration, Instant};

use super::Series;
use crate::decision::Degraded;
use crate::error::{InvalidCall, StoreError};
use crate::rule::{Algorithm, Check, Rule};
use crate::store::Answers;

pub(crate) const fn decided(_: &[Check<'_>], _: &Answers) {}

pub(crate) const fn degraded(_: &[Check<'_>], _: Option<Degraded>, _: &StoreError) {}

pub(crate) const fn mistaken(_: &InvalidCall) {}

pub(crate) const fn overflowed(_: &Rule, _: bool) {}

pub(crate) const fn overflow_budgets(_: usize, _: usize) {}

pub(crate) const fn entry_added() {}

pub(crate) const fn entries_gone(_: usize) {}

#[derive(Debug)]
pub(crate) struct Capacity;

impl Capacity {
    pub(crate) const fn new(_: usize) -> Self {
        Self
    }
}

#[expect(clippy::unused_self, reason = "as with the feature")]
impl Series {
    pub(crate) const fn has_limit(&self, _: Algorithm) {}
}

#[derive(Debug)]
pub(crate) struct Asking(Instant);

impl Asking {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// After how long.
    pub(crate) fn ended<T>(&self, _: &Result<T, StoreError>) -> Duration {
        self.0.elapsed()
    }

    pub(crate) const fn leave(self) {
        let Self(_) = self;
    }
}

#[cfg(feature = "redis")]
pub(crate) const fn connecting() {}

#[cfg(feature = "redis")]
#[derive(Debug)]
pub(crate) struct Server;

#[cfg(feature = "redis")]
#[expect(clippy::unused_self, reason = "as with the feature")]
impl Server {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) const fn up(&mut self) {}

    pub(crate) const fn down(&mut self) {}
}
