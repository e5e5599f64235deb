#![doc = include_str!("../README.md")]

/// The examples of the guide are compiled.
#[cfg(all(doctest, feature = "actix", feature = "axum", feature = "tonic"))]
#[doc = include_str!("../docs/http.md")]
struct Guide;

#[doc = include_str!("key.md")]
pub use ratelimit_macros::key;
#[doc = include_str!("rate_limit.md")]
pub use ratelimit_macros::rate_limit;
pub use ratelimit_runtime::*;
