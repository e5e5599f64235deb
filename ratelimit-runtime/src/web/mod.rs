//! What all web frameworks share: whose request it is, and what a client is told. No framework's
//! types are here.

mod address;
mod answer;
mod caching;
mod decide;
mod fields;
mod layer;
mod layer_rule;
mod request;
mod spread;

pub use self::address::ClientIp;
pub use self::answer::{ErrorBody, ErrorResponses};
pub(crate) use self::caching::Caching;
pub(crate) use self::fields::FieldItem;
pub use self::fields::RateLimitHeaders;
pub use self::layer::RateLimitLayer;
pub(crate) use self::layer::Settings;
pub use self::layer_rule::LayerRule;
pub use self::request::RequestInfo;
pub(crate) use self::spread::Spread;
