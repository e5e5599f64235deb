//! The runtime of `ratelimit-kit`: what annotated functions call, and what can be used without the
//! attribute. Add `ratelimit-kit` to a project, not this crate.
//!
//! The arrows run one way. `algo` is arithmetic and knows no store, clock or runtime; a [`Store`]
//! decides lists of [`Check`]s and knows no policy; the [`Limiter`] joins them.

#![cfg_attr(docsrs, feature(doc_cfg))]

// There neither a clock nor a thread is to be had, and all of it would panic at the first call.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
compile_error!(
    "ratelimit-kit needs a clock, which `wasm32-unknown-unknown` does not have: build for a WASI target \
     such as `wasm32-wasip1` (with `default-features = false`), or limit on the server's side"
);

mod address;
mod algo;
mod clock;
mod context;
mod decision;
mod driver;
mod error;
mod event;
mod frameworks;
mod identity;
mod key;
mod limiter;
mod panics;
mod process;
mod reject;
mod rule;
mod spacing;
pub mod store;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tower")]
mod web;

#[doc(hidden)]
pub mod __private;

pub use clock::{Clock, ManualClock};
pub use context::{RequestContext, RequestContextBuilder};
pub use decision::{Decision, Degraded, Outcome};
pub use error::{
    ConfigError, InvalidCall, InvalidCertificates, InvalidNumber, InvalidPasswordFile, InvalidUrl,
    Limited, RateLimitError, StoreError, Unavailable,
};
pub use event::{LimitEvent, LimitEventKind};
#[cfg(feature = "actix")]
pub use frameworks::RateLimitMiddleware;
#[cfg(feature = "tower")]
pub use frameworks::{RateLimitFuture, RateLimitService, TextBody};
pub use key::{KeyBuilder, KeyPart, KeyWriter, LimitKey, MaybeKeyPart};
pub use limiter::{Limiter, LimiterBuilder, RateLimit};
pub use reject::FromRateLimitError;
pub use rule::{Algorithm, Check, Mode, OnError, Rate, Rule};
pub use store::Store;
#[cfg(feature = "redis")]
pub use store::redis::RedisCredentials;
#[cfg(feature = "tower")]
pub use web::{
    ClientIp, ErrorBody, ErrorResponses, LayerRule, RateLimitHeaders, RateLimitLayer, RequestInfo,
};
