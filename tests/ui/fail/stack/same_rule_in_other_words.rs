use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
#[rate_limit(refill = "5/s", capacity = 20, algo = "token_bucket")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
