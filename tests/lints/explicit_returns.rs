//! A crate in which every `return` is written.

#![deny(warnings, clippy::implicit_return)]
#![allow(clippy::needless_return)]

use ratelimit_kit::{RateLimitError, rate_limit};

struct Counter(u64);

#[rate_limit(capacity = 5, refill = 1)]
fn plain() -> Result<(), RateLimitError> {
    return Ok(());
}

#[rate_limit(key = "id", capacity = 5, refill = 1)]
async fn asynchronous(id: u64) -> Result<u64, RateLimitError> {
    return Ok(core::future::ready(id).await);
}

#[rate_limit(key = "big", capacity = 5, refill = 1, on_limited = 7)]
fn branches(big: bool) -> u8 {
    if big {
        return 1;
    }
    return 0;
}

impl Counter {
    #[rate_limit(key = "self.0", capacity = 5, refill = 1, on_limited = |_| { return 0; })]
    fn next(&mut self) -> u64 {
        self.0 += 1;
        return self.0;
    }
}

#[tokio::test]
async fn all_of_them_run() {
    assert!(plain().is_ok());
    assert!(asynchronous(1).await.is_ok());
    assert_eq!(branches(true), 1);
    assert_eq!(Counter(0).next(), 1);
}
