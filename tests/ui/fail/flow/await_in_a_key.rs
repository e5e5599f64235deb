use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = tenant(id).await, capacity = 20, refill = 5)]
async fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

async fn tenant(id: u64) -> u64 {
    id
}

fn main() {}
