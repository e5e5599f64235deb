use ratelimit_kit as rl;
use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
#[rl::rate_limit(capacity = 1, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
