use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: u64) -> impl Future<Output = Result<u64, RateLimitError>> {
    std::future::ready(Ok(id))
}

fn main() {}
