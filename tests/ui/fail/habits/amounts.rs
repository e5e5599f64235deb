use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 10^3, refill = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 010, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5.0, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = u64::MAX, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = "5 per minute")]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = phone.len() / 60)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = 60000)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = phone.len() * 1000)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = "PT1M")]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = phone.window_minutes)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 5, refill = phone.per_minute)]
fn f10(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
