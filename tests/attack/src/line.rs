//! One address joins the line of a leaky bucket ten times a second and leaves after 3 ms. Others
//! come once a second and have to wait for one turn at most.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use ratelimit_kit::{Limiter, RateLimitError, rate_limit};
use test_support::{Flavor, Server, unique};
use tokio::time::{Instant, interval};

use crate::client::Request;
use crate::service::{layer, serve};
use crate::{Honest, Report};

#[rate_limit(
    name = "checkout",
    algo = leaky_bucket,
    capacity = 20,
    leak = 5,
    wait = "4s",
    limiter = limiter
)]
async fn checkout(State(limiter): State<Limiter>) -> Result<&'static str, RateLimitError> {
    Ok("paid")
}

/// A turn of the line, and as much again for a busy machine: without the attack it is none.
const LONGEST: Duration = Duration::from_millis(400);

pub(crate) async fn run(lasts: Duration) -> Report {
    let server = Server::shared(Flavor::Installed);
    let limiter = Limiter::builder().redis(server.url()).prefix(unique("attack"));
    let limiter = limiter.deadline(Duration::from_millis(250)).build().unwrap();
    limiter.ready().await.unwrap();
    let router = Router::new().route("/checkout", get(checkout));
    let address = serve(router.with_state(limiter.clone()).layer(layer(&limiter))).await;
    let (mut next, end) = (interval(Duration::from_millis(100)), Instant::now() + lasts);
    let mut honest = Honest::default();
    let mut asking = tokio::task::JoinSet::new();
    let mut attacks = 0;
    while Instant::now() < end {
        next.tick().await;
        let request = Request::get("/checkout", "203.0.113.66");
        tokio::spawn(request.and_close_after(Duration::from_millis(3), address));
        attacks += 1;
        if attacks % 10 == 5 {
            asking.spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let asked = Instant::now();
                let answer = Request::get("/checkout", "198.51.100.2").to(address).await;
                (answer.status, asked.elapsed())
            });
        }
    }
    while let Some(asked) = asking.join_next().await {
        let (status, took) = asked.unwrap();
        let right = status == 200 && took < LONGEST;
        honest.count((!right).then(|| format!("{status} after {took:?}")));
    }
    let attack = format!("{attacks} callers of a line who leave it after 3 ms");
    Report { attack, honest }
}
