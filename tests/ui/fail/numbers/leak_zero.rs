use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = leaky_bucket, capacity = 20, leak = "0/s")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
