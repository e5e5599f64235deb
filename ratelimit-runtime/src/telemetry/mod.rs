//! What limiters report of themselves: numbers through the `metrics` facade, with the feature of that
//! name, and lines about calls that were not simply admitted.
//!
//! Labels are rules and words out of short lists. None ever holds a key or what a caller has sent.

#[cfg(test)]
pub(crate) mod lines;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(not(feature = "metrics"))]
mod noop;
mod series;
mod tally;

#[cfg(feature = "metrics")]
pub(crate) use self::metrics::*;
#[cfg(not(feature = "metrics"))]
pub(crate) use self::noop::*;
pub(crate) use self::series::{Named, Names, Series};

/// What one rule said about a call: under which name it is counted, whether it admits, and whether it is in
/// shadow mode.
pub(crate) type Said<'s> = (&'s std::sync::Arc<Series>, bool, bool);
