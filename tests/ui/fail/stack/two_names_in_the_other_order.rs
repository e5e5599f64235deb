use ratelimit_kit::{RateLimitError, rate_limit as rl};

#[rl(key = "id", capacity = 20, refill = 5)]
#[ratelimit_kit::rate_limit(capacity = 1, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
