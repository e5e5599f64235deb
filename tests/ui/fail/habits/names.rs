use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refillRate = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, windowSeconds = 60)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(limitType = LimitType.IP, capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(fail_open = true, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(initial = 0, capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(requested = 3, capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(permits = 5, refill = 1)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, enabled)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algorithm = RateLimitAlgorithm.FIXED_WINDOW, limit = 5, window = 60)]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = 60, align = hour)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
