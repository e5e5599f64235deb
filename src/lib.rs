#![doc = include_str!("../README.md")]

pub use ratelimit_macros::rate_limit;
pub use ratelimit_runtime::*;
