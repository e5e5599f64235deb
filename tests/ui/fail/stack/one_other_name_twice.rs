use ratelimit_kit::{RateLimitError, rate_limit as rl};

#[rl(capacity = 2, refill = 1)]
#[rl(capacity = 1, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
