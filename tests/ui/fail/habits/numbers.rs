use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = "1000/min")]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(limit = 20, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, window = 60)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, capacity = 5, refill = 1)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = 1/15)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 3/4, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = 1 / SECONDS)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
