//! What limiters report of themselves: numbers through the `metrics` facade, with the feature of that
//! name, and lines about calls that were not simply admitted.
//!
//! Labels are rules and words out of short lists. None ever holds a key or what a caller has sent.

#[cfg(test)]
pub(crate) mod lines;
mod series;
#[cfg(not(feature = "metrics"))]
mod silent;
mod tally;
#[cfg(feature = "metrics")]
mod told;

pub(crate) use series::{Named, Names, Series};
#[cfg(not(feature = "metrics"))]
pub(crate) use silent::*;
#[cfg(feature = "metrics")]
pub(crate) use told::*;
