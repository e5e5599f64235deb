//! What web frameworks are told when a body does not run, each behind a feature of its name.
//! Nothing else in this crate knows them.

#[cfg(feature = "actix")]
mod actix;
#[cfg(feature = "axum")]
mod axum;
#[cfg(feature = "tonic")]
mod tonic;
#[cfg(feature = "tower")]
mod tower;

#[cfg(feature = "actix")]
pub use self::actix::RateLimitMiddleware;
#[cfg(feature = "tower")]
pub use self::tower::{RateLimitFuture, RateLimitService, TextBody};
