//! The layer for tower: for axum, tonic and every other service of the `http` crate's requests.

mod future;
mod refusal;
mod service;

pub use self::future::RateLimitFuture;
pub use self::refusal::TextBody;
pub use self::service::RateLimitService;
