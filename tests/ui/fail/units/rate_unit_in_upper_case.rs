use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = "300/MIN")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
