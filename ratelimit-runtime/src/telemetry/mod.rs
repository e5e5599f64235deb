//! The numbers that limiters tell, through the `metrics` facade and with the feature of that name.
//!
//! Labels are rules and words out of short lists. None ever holds a key or what a caller has sent.

#[cfg(test)]
pub(crate) mod lines;
#[cfg(not(feature = "metrics"))]
mod silent;
#[cfg(feature = "metrics")]
mod told;

#[cfg(not(feature = "metrics"))]
pub(crate) use silent::*;
#[cfg(feature = "metrics")]
pub(crate) use told::*;
