use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = token_bucket, capacity = 5, refill = 1, window = 60)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
