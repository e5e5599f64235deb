use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
const fn f() -> Result<u8, RateLimitError> {
    Ok(1)
}

fn main() {}
