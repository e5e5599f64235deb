use std::future::ready;
use std::pin::Pin;

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "id", capacity = 20, refill = 5)]
fn f(id: u64) -> Pin<Box<dyn Future<Output = Result<u64, RateLimitError>>>> {
    if id == 0 {
        return Box::pin(ready(Ok(0)));
    }
    Box::pin(async move { Ok(id) })
}

fn main() {}
