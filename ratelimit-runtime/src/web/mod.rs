//! What all web frameworks share: who the client is, and what the response says. No framework's types are
//! here: `request` has those.

mod address;
mod caching;
mod decide;
mod error_response;
mod fields;
mod layer;
mod layer_rule;
mod settings;

pub use self::address::ClientIp;
pub(crate) use self::caching::Caching;
pub use self::fields::RateLimitHeaders;
pub use self::layer::RateLimitLayer;
pub use self::layer_rule::LayerRule;
pub(crate) use self::settings::Settings;
