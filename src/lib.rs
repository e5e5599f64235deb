#![doc = include_str!("front_page.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(any(doc, doctest))]
pub mod guide;

// One by one, and not by a glob: each says which feature it needs, on its page and in the error of rustc where
// that is off; and what is not here is no promise.
#[doc = include_str!("key.md")]
pub use ratelimit_macros::key;
#[doc = include_str!("rate_limit.md")]
pub use ratelimit_macros::rate_limit;
#[doc(hidden)]
pub use ratelimit_runtime::__private;
#[cfg(feature = "actix")]
#[doc(inline)]
pub use ratelimit_runtime::RateLimitMiddleware;
#[cfg(feature = "redis")]
#[doc(inline)]
pub use ratelimit_runtime::RedisCredentials;
#[cfg(feature = "testing")]
#[doc(inline)]
pub use ratelimit_runtime::testing;
#[doc(inline)]
pub use ratelimit_runtime::{
    Algorithm, Check, Clock, ConfigError, Decision, Degraded, FromRateLimitError, InvalidCall,
    InvalidCertificates, InvalidNumber, InvalidPasswordFile, InvalidUrl, KeyBuilder, KeyPart,
    KeyWriter, LimitEvent, LimitEventKind, LimitKey, Limited, Limiter, LimiterBuilder, ManualClock,
    MaybeKeyPart, Mode, OnError, Outcome, Rate, RateLimit, RateLimitError, RequestContext,
    RequestContextBuilder, Rule, Store, StoreError, Unavailable,
};
#[cfg(feature = "tower")]
#[doc(inline)]
pub use ratelimit_runtime::{
    ClientIp, ErrorBody, ErrorResponses, LayerRule, RateLimitFuture, RateLimitHeaders,
    RateLimitLayer, RateLimitService, RequestInfo, TextBody,
};

/// The store in this process, and what a store of your own needs.
pub mod store {
    #[doc(inline)]
    pub use ratelimit_runtime::store::{
        Answer, Answers, BoxFuture, Charged, Charges, Embedded, Store, Timestamp,
    };
}
