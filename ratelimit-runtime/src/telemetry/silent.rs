//! Without the feature: nothing is told.

use crate::decision::Degraded;
use crate::error::{Mistake, StoreError};
use crate::rule::{Check, Rule};
use crate::store::Answers;

pub(crate) const fn decided(_: &[Check<'_>], _: &Answers) {}

pub(crate) const fn degraded(_: &[Check<'_>], _: Option<Degraded>, _: &StoreError) {}

pub(crate) const fn mistaken(_: &Mistake) {}

pub(crate) const fn overflowed(_: &Rule) {}

pub(crate) const fn entry_added() {}

pub(crate) const fn entries_gone(_: usize) {}

#[derive(Debug)]
pub(crate) struct Asking;

impl Asking {
    pub(crate) const fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) const fn ended<T>(&self, _: &Result<T, StoreError>) {}
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
