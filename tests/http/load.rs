//! Many requests at once, over a hundred connections: the counts are right, to one.

use std::time::Duration;

use ratelimit_kit::{Algorithm, RateLimitLayer, RequestContext, Rule};
use test_support::Load;

use crate::support::limiter;
use crate::support::site::Site;

#[test]
fn a_hundred_connections_get_what_there_is() {
    let site = || {
        let window = Duration::from_mins(1);
        let rule = Rule::new("load", Algorithm::FixedWindow { limit: 300, window });
        let layer = RateLimitLayer::new().limiter(limiter()).limit(rule, RequestContext::ip_key);
        Site::new(limiter(), layer)
    };
    Site::everywhere(site, |framework, address| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let load = Load::new(address, "/free").connections(100).lasts(Duration::from_secs(1));
        let picture = runtime.block_on(load.run());
        assert_eq!(picture.total(200), 300, "{framework}");
        assert_eq!(picture.total(200) + picture.total(429), picture.hits().len(), "{framework}");
        assert!(picture.total(429) > 0, "{framework}");
    });
}
