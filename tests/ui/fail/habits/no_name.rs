use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit("5/min")]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(5, 60)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit("phone", 20, 5)]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(@ip, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(phone, capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit({ capacity = 20, refill = 5 })]
fn f5(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit("capacity" = 20, refill = 5)]
fn f6(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(capacity = 20,, refill = 5)]
fn f7(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(on-error = open, capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(..DEFAULTS)]
fn f9(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
