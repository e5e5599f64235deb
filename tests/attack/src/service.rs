//! The service that is attacked: axum behind one proxy, as in the examples.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use ratelimit_kit::{Algorithm, ClientIp, Limiter, OnError, RateLimitLayer, Rule};
use test_support::{Flavor, Server, unique};
use tokio::net::TcpListener;

/// Far above the default: the machine that runs the attack runs the attacker as well.
const PATIENCE: Duration = Duration::from_millis(250);

/// A limiter on the installed Redis that decides nothing without it.
pub(crate) async fn patient_limiter() -> Limiter {
    let redis = Server::shared(Flavor::Installed).url();
    let limiter = Limiter::builder().redis(redis).prefix(unique("attack"));
    let limiter = limiter.on_error(OnError::Closed).deadline(PATIENCE).build().unwrap();
    limiter.ready().await.unwrap();
    limiter
}

/// A layer that knows the addresses of clients, and decides its rules on this limiter.
pub(crate) fn layer(limiter: &Limiter) -> RateLimitLayer {
    let behind = ClientIp::behind(["127.0.0.1"]).unwrap();
    RateLimitLayer::new().limiter(limiter.clone()).client_ip(behind)
}

/// So many for an address, in an hour.
pub(crate) fn per_hour(limit: u64) -> Rule {
    Rule::named(unique("page"), Algorithm::FixedWindow { limit, window: Duration::from_hours(1) })
}

/// Serves until the process ends.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    address
}
