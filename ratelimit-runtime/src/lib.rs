//! The runtime of `ratelimit-kit`: what annotated functions call, and what can be used without the
//! attribute. Add `ratelimit-kit` to a project, not this crate.
//!
//! The arrows run one way. Arithmetic knows no store, clock or runtime; a [`Store`] decides lists of
//! [`Check`]s and knows no policy; the [`Limiter`] joins them. The layers, from the lowest to the highest;
//! a module uses only those of earlier lines, and the gate checks that:
//!
//! - `address`, `clock`, `identity`, `panics`, `process`, `spacing`: helpers that know nothing of the crate.
//! - `algo`: the arithmetic, and nothing else.
//! - `key`, `error`: keys, and what can be wrong.
//! - `degraded`, `driver`, `name`: who decided instead of the store, the limiter's own thread, lengths of names.
//! - `event`: what hooks are called with.
//! - `telemetry`: numbers and lines about rules, by their names.
//! - `rule`: rules, and checks of them.
//! - `decision`: what the limiter answers.
//! - `responses`: what HTTP responses look like, as a layer says.
//! - `context`: what is known of the request.
//! - `store`: where decisions are made.
//! - `limiter`: a store with its policies.
//! - `reject`, `request`, `testing`: what a function returns instead, a request of any framework, limiters of tests.
//! - `web`: the layer.
//! - `frameworks`: the layer in each framework.
//! - `__private`: what the attribute writes.

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
mod degraded;
mod driver;
mod error;
mod event;
mod frameworks;
mod identity;
mod key;
mod limiter;
mod name;
mod panics;
mod process;
mod reject;
#[cfg(feature = "tower")]
mod request;
#[cfg(feature = "tower")]
mod responses;
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
pub use decision::{Decision, Limited, Outcome, RateLimitError, Unavailable};
pub use degraded::Degraded;
pub use error::{
    ConfigError, InvalidCall, InvalidCertificates, InvalidNumber, InvalidPasswordFile, InvalidUrl,
    StoreError,
};
pub use event::{LimitEvent, LimitEventKind};
#[cfg(feature = "actix")]
pub use frameworks::RateLimitMiddleware;
#[cfg(feature = "tower")]
pub use frameworks::{RateLimitFuture, RateLimitService, TextBody};
pub use key::{KeyBuilder, KeyPart, KeyWriter, LimitKey, MaybeKeyPart};
pub use limiter::{Limiter, LimiterBuilder, RateLimit};
pub use reject::FromRateLimitError;
#[cfg(feature = "tower")]
pub use request::RequestInfo;
#[cfg(feature = "tower")]
pub use responses::{ErrorBody, ErrorResponses};
pub use rule::{Algorithm, Check, Mode, OnError, Rate, Rule};
pub use store::Store;
#[cfg(feature = "redis")]
pub use store::redis::RedisCredentials;
#[cfg(feature = "tower")]
pub use web::{ClientIp, LayerRule, RateLimitHeaders, RateLimitLayer};
