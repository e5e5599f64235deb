use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = burst, refill = 1)]
fn f(burst: &str) -> Result<usize, RateLimitError> {
    Ok(burst.len())
}

fn main() {}
