//! The layer for tower: for axum, tonic and every other service of the `http` crate's requests.

mod future;
mod path;
mod peer;
mod refusal;
mod service;

pub use self::future::RateLimitFuture;
pub(crate) use self::path::{of as path, route};
pub(crate) use self::peer::of as peer;
pub use self::refusal::TextBody;
pub use self::service::RateLimitService;
