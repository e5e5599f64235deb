//! Without the feature: there are no numbers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Said, Series};
use crate::degraded::Degraded;
use crate::error::{InvalidCall, StoreError};

pub(crate) fn decided<'s>(_: impl Iterator<Item = Said<'s>>, _: impl FnOnce() -> bool) {}

pub(crate) fn degraded<'s>(
    _: impl Iterator<Item = &'s Arc<Series>>,
    _: Option<Degraded>,
    _: &StoreError,
) {
}

pub(crate) const fn mistaken(_: &InvalidCall) {}

pub(crate) const fn overflowed(_: &Series, _: bool) {}

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
    pub(crate) const fn set_limit(&self, _: Option<u64>, _: Option<f64>) {}
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
