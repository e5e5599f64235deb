use ratelimit_kit::{RateLimitError, rate_limit, rate_limit as rl};

#[rate_limit(key = "id", capacity = 20, refill = 5)]
#[rl(capacity = 1, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
