//! What is measured: one handler, limited in every way that there is.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use ratelimit_kit::{
    Algorithm, Rate, RateLimitError, RateLimitLayer, RequestContext, Rule, rate_limit,
};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;
use tower_layer::Identity;

async fn bare() -> &'static str {
    "hello"
}

/// So much that no request is refused.
#[rate_limit(key = "'everybody'", capacity = 1_000_000_000, refill = 1_000_000)]
async fn annotated() -> Result<&'static str, RateLimitError> {
    Ok("hello")
}

#[rate_limit(name = "hello", key = "@ip", capacity = 1_000_000_000, refill = 1_000_000)]
async fn by_address() -> Result<&'static str, RateLimitError> {
    Ok("hello")
}

/// The bare handler is the first.
pub(super) fn all() -> Result<Vec<(&'static str, Router)>, Box<dyn Error>> {
    let mut governor = GovernorConfigBuilder::default();
    governor.period(Duration::from_micros(1)).burst_size(1_000_000_000);
    let plain = governor.finish().ok_or("a configuration of governor's")?;
    let with_headers = governor.use_headers().finish().ok_or("a configuration of governor's")?;
    let of_bare = || Router::new().route("/", get(bare));
    let ours = |layer| Router::new().route("/", get(by_address)).layer(layer);
    let of_layer = || {
        let refill = Rate::per_second(1_000_000);
        let rule = Rule::new("layer", Algorithm::TokenBucket { capacity: 1_000_000_000, refill });
        RateLimitLayer::new().headers([]).limit(rule, RequestContext::ip_key)
    };
    Ok(vec![
        ("bare handler", of_bare()),
        ("a layer that does nothing", of_bare().layer(Identity::new())),
        ("annotated, no layer", Router::new().route("/", get(annotated))),
        ("annotated by `@ip`, no fields", ours(RateLimitLayer::new().headers([]))),
        ("annotated by `@ip`, fields", ours(RateLimitLayer::new())),
        ("a rule of the layer, by address", of_bare().layer(of_layer())),
        ("tower_governor by address", of_bare().layer(GovernorLayer::new(plain))),
        ("tower_governor, headers", of_bare().layer(GovernorLayer::new(with_headers))),
    ])
}
