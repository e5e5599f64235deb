use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(bare fixed_window, limit = 5, window = 60)]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(bucket = leaky, leak = 1)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(limit = 5, per = "1m")]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(requests = 5, window = "1m")]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "backendA", fallbackMethod = "fallback")]
fn f4(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
