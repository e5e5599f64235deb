use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = 2.50)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
