use std::pin::Pin;

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: u64) -> Pin<Box<dyn Future<Output = Result<u64, RateLimitError>>>> {
    let future = async move { Ok(id) };
    Box::pin(future)
}

fn main() {}
