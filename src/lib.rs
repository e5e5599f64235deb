#![doc = include_str!("../README.md")]

#[doc = include_str!("rate_limit.md")]
pub use ratelimit_macros::rate_limit;
pub use ratelimit_runtime::*;
