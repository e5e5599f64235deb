//! `decision = name`: the body sees what was decided, whatever the shape of its function.

use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use ratelimit_kit::{Decision, Outcome, RateLimitError, rate_limit};

use crate::support::{Error, LIMITER, now};

fn left(seen: &Decision) -> u64 {
    seen.outcomes().iter().map(Outcome::remaining).sum()
}

struct Desk {
    name: &'static str,
}

impl Desk {
    #[rate_limit(key = "self.name", capacity = 3, refill = "1/h", limiter = LIMITER, decision = seen)]
    fn method(&self) -> Result<u64, Error> {
        let more = |n: u64| left(&seen) + n;
        Ok(more(0))
    }
}

#[rate_limit(capacity = 3, refill = "1/h", limiter = LIMITER, decision = seen)]
fn boxed() -> Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>> {
    Box::pin(async move { Ok(left(&seen)) })
}

#[rate_limit(capacity = 3, refill = "1/h", limiter = LIMITER, decision = seen)]
fn hidden() -> impl Future<Output = Result<u64, Error>> {
    async move { Ok(left(&seen)) }
}

#[rate_limit(capacity = 3, refill = "1/h", limiter = LIMITER, decision = seen, on_limited = 100)]
async fn with_a_handler() -> u64 {
    left(&seen)
}

#[rate_limit(
    capacity = 3,
    refill = "1/h",
    limiter = LIMITER,
    decision = seen,
    on_limited = panic!("refused")
)]
fn with_a_panic() -> u64 {
    left(&seen)
}

#[async_trait]
trait Send2 {
    async fn send(&self) -> Result<u64, RateLimitError>;
}

#[async_trait]
impl Send2 for Desk {
    #[rate_limit(key = "self.name", capacity = 3, refill = "1/h", limiter = LIMITER, decision = seen)]
    async fn send(&self) -> Result<u64, RateLimitError> {
        Ok(left(&seen))
    }
}

#[test]
fn f44_every_shape_of_function_can_see_its_decision() {
    let desk = Desk { name: "front" };
    for left in [2, 1, 0] {
        assert_eq!(desk.method().unwrap(), left);
        assert_eq!(now(boxed()).unwrap(), left);
        assert_eq!(now(hidden()).unwrap(), left);
        assert_eq!(now(with_a_handler()), left);
        assert_eq!(with_a_panic(), left);
        assert_eq!(now(desk.send()).unwrap(), left);
    }
    assert!(desk.method().is_err() && now(boxed()).is_err() && now(hidden()).is_err());
    assert_eq!(now(with_a_handler()), 100);
    assert!(now(desk.send()).is_err());
}

/// Futures stay `Send`, as those without a decision are.
#[test]
fn f44_a_future_with_a_decision_is_send() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&with_a_handler());
    is_send(&Desk { name: "back" }.send());
}
