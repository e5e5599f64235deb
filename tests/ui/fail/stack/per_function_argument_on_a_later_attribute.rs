use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
#[rate_limit(name = "b", capacity = 1, refill = 1, on_limited = Ok(0), limiter = x)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
