//! One address opens connections, asks, and closes them a millisecond later, before Redis, which is
//! 3 ms away, can have answered. That says nothing about Redis, and nobody else may notice.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use ratelimit_kit::{Limiter, OnError, RequestContext, Rule};
use test_support::{Flavor, Proxy, Server, unique};
use tokio::time::{Instant, interval};

use crate::client::Request;
use crate::service::{layer, per_hour, serve};
use crate::{Honest, Report};

const AWAY: Duration = Duration::from_millis(3);

/// Attackers leave after that.
const PATIENCE: Duration = Duration::from_millis(1);

/// The default.
const DEADLINE: Duration = Duration::from_millis(50);

pub(crate) async fn run(lasts: Duration) -> Vec<Report> {
    vec![closed(lasts / 2).await, local(lasts / 2).await]
}

/// A service on this Redis, with this rule.
async fn service(proxy: &Proxy, prefix: &str, on_error: OnError, rule: Rule) -> SocketAddr {
    let limiter = Limiter::builder().redis(proxy.url()).prefix(prefix);
    let limiter = limiter.on_error(on_error).deadline(DEADLINE).build().unwrap();
    limiter.ready().await.unwrap();
    let router = Router::new().route("/page", get(async || "page"));
    let address = serve(router.layer(layer(&limiter).limit(rule, RequestContext::ip_key))).await;
    // The script may have to be uploaded.
    Request::get("/page", "198.51.100.1").to(address).await;
    address
}

/// Attacks this service so often; how often in all.
fn attack(address: SocketAddr, every: Duration, lasts: Duration) -> u128 {
    tokio::spawn(async move {
        let (mut next, end) = (interval(every), Instant::now() + lasts);
        while Instant::now() < end {
            next.tick().await;
            let request = Request::get("/page", "203.0.113.66");
            tokio::spawn(request.and_close_after(PATIENCE, address));
        }
    });
    lasts.as_nanos() / every.as_nanos()
}

/// The rule is never reached, and Redis is always there: nobody is refused or unavailable.
async fn closed(lasts: Duration) -> Report {
    let server = Server::shared(Flavor::Installed);
    let proxy = Proxy::to(server.port());
    proxy.replies().delay(AWAY);
    let address = service(&proxy, &unique("attack"), OnError::Closed, per_hour(1_000_000)).await;
    let before = proxy.connections().len();
    let attacks = attack(address, Duration::from_millis(10), lasts);
    let mut honest = Honest::default();
    let (mut next, end) = (interval(Duration::from_millis(135)), Instant::now() + lasts);
    while Instant::now() < end {
        next.tick().await;
        let answer = Request::get("/page", "198.51.100.2").to(address).await;
        honest.count((answer.status != 200).then(|| format!("{}", answer.status)));
    }
    let made = proxy.connections().len() - before;
    let attack = format!(
        "{attacks} requests whose clients close after {PATIENCE:?}, Redis {AWAY:?} away, on_error = \
         closed, new connections to Redis: {made}"
    );
    Report { attack, honest }
}

/// Three instances share a limit of 5, and a client of all three has five calls, not fifteen.
async fn local(lasts: Duration) -> Report {
    const LIMIT: usize = 5;
    let server = Server::shared(Flavor::Installed);
    let proxy = Proxy::to(server.port());
    proxy.replies().delay(AWAY);
    let (prefix, rule) = (unique("attack"), per_hour(LIMIT as u64));
    let mut addresses = Vec::new();
    let mut attacks = 0;
    for _ in 0..3 {
        addresses.push(service(&proxy, &prefix, OnError::Local, rule.clone()).await);
    }
    for address in &addresses {
        attacks += attack(*address, Duration::from_micros(7_700), lasts);
    }
    let (mut next, end) = (interval(Duration::from_millis(135)), Instant::now() + lasts);
    let mut honest = Honest::default();
    let mut admitted = 0;
    while Instant::now() < end {
        next.tick().await;
        let address = addresses[honest.calls % addresses.len()];
        let answer = Request::get("/page", "198.51.100.2").to(address).await;
        admitted += usize::from(answer.status == 200);
        let right = if honest.calls < LIMIT { 200 } else { 429 };
        honest.count(
            (answer.status != right).then(|| {
                format!("call {}: {} instead of {right}", honest.calls + 1, answer.status)
            }),
        );
    }
    let attack = format!(
        "{attacks} such requests to three instances, on_error = local; of a limit of {LIMIT} another \
         address was admitted {admitted} times"
    );
    Report { attack, honest }
}
