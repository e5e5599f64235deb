use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "login", capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "#ip", capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "request.ip", capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "#root.methodName + #phone", capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "PREFIX + phone", capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "fn_key(phone)", capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "toLowerCase(phone)", capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "coalesce(phone, 'x')", capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@phone", capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "lower phone", capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
