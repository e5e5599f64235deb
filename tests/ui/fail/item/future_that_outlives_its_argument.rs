use std::pin::Pin;

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: &str) -> Pin<Box<dyn Future<Output = Result<usize, RateLimitError>>>> {
    let len = id.len();
    Box::pin(async move { Ok(len) })
}

fn main() {}
