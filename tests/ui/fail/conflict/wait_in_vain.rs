use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = leaky_bucket, capacity = 1, leak = 5, wait = "1s")]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = leaky_bucket, capacity = 5, leak = "1/h", wait = "1s")]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
