use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = "0.5/s")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

#[rate_limit(capacity = 5, refill = "0.5/fortnight")]
fn g(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
