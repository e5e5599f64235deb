use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 2.5, refill = 1)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
