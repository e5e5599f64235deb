//! One address that is refused says of plain requests that they are gRPC, in front of a cache. A
//! refusal of gRPC is a 200, and the cache may not have it for a page.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use ratelimit_kit::{Limiter, RequestContext};
use test_support::Nginx;
use tokio::time::{Instant, interval};

use crate::client::Request;
use crate::service::{layer, per_hour, serve};
use crate::{Honest, Report};

pub(crate) async fn run(lasts: Duration) -> Report {
    let limiter = Limiter::builder().build().unwrap();
    let router = Router::new().route("/page", get(async || "page"));
    let service =
        serve(router.layer(layer(&limiter).limit(per_hour(5), RequestContext::ip_key))).await;
    let cache = Nginx::start(&format!(
        "proxy_cache_path cache keys_zone=pages:1m;
         server {{
             listen 80;
             location / {{
                 proxy_pass http://{service};
                 proxy_cache pages;
                 proxy_cache_valid 200 1s;
             }}
         }}"
    ));
    let cache: SocketAddr = ([127, 0, 0, 1], cache.port()).into();
    let attacker = "203.0.113.66";
    for _ in 0..5 {
        Request::get("/page", attacker).to(service).await;
    }
    let mut honest = Honest::default();
    let (mut next, end) = (interval(Duration::from_millis(20)), Instant::now() + lasts);
    let mut attacks = 0;
    while Instant::now() < end {
        next.tick().await;
        for method in ["GET", "HEAD", "POST", "DELETE"] {
            let request = Request::get("/page", attacker).method(method);
            let request = request.header("content-type", "application/grpc; x=<b>");
            attacks += 1;
            let answer = request.to(service).await;
            // Whoever counts refusals, and whoever keeps answers, goes by these.
            let told = answer.status == 429 && answer.head.contains("\r\ncache-control: no-store");
            if !told || answer.head.contains("<b>") {
                honest.lost.push(format!("a refused {method} is {:?}", answer.head));
            }
            // What is kept of an earlier answer is not refused.
            request.to(cache).await;
        }
        let stranger = format!("198.51.{}.{}", honest.calls / 250 % 250, honest.calls % 250);
        let answer = Request::get("/page", stranger).to(cache).await;
        let right = answer.status == 200 && answer.body == "page";
        honest.count((!right).then(|| format!("{} {:?}", answer.status, answer.body)));
    }
    let attack = format!(
        "{attacks} refused requests with `content-type: application/grpc`, and as many through a cache"
    );
    Report { attack, honest }
}
