use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(name = "pool", capacity = 20, refill = 5)]
#[rate_limit(name = "pool", capacity = 1, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
