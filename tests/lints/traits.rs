//! Methods behind `#[async_trait]`, which has an `allow` of its own that a `forbid` would refuse.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code, clippy::unwrap_used, clippy::panic)]

use async_trait::async_trait;
use ratelimit_kit::{RateLimitError, rate_limit};

#[async_trait]
trait Gateway {
    async fn send(&self, to: &str) -> Result<(), RateLimitError>;

    async fn count(&mut self, pair: (u64, u64)) -> Result<u64, RateLimitError>;
}

struct Sms {
    tenant: String,
    sent: u64,
}

#[async_trait]
impl Gateway for Sms {
    #[rate_limit(key = "self.tenant + to", capacity = 5, refill = 1)]
    async fn send(&self, to: &str) -> Result<(), RateLimitError> {
        tokio::task::yield_now().await;
        if to == "last" { Ok(()) } else { self.send("last").await }
    }

    #[rate_limit(key = "[self.tenant, first]", capacity = 5, refill = 1, cost = second)]
    async fn count(&mut self, (first, second): (u64, u64)) -> Result<u64, RateLimitError> {
        tokio::task::yield_now().await;
        self.sent += first + second;
        Ok(self.sent)
    }
}

#[tokio::test]
async fn all_of_them_run() -> Result<(), RateLimitError> {
    let mut sms = Sms { tenant: "t".to_owned(), sent: 0 };
    sms.send("1").await?;
    assert_eq!(sms.count((1, 1)).await?, 2);
    Ok(())
}
