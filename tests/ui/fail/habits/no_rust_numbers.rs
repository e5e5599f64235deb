use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(refill = 5 per min, capacity = 5)]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(algo = fixed_window, limit = 5, window = 1 min)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(algo = fixed_window, limit = 5 per min)]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(algo = fixed_window, limit = 5 000, window = 60)]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(capacity = 1,000, refill = 5)]
fn f4(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(capacity = 20 tokens, refill = 5)]
fn f5(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(algo = fixed-window, limit = 5, window = 60)]
fn f6(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
