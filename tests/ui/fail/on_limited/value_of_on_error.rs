use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = 1, on_error = fallback(phone))]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
