use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = 1, on_limited = 429)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = 1, on_limited = "fallback(phone)")]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
