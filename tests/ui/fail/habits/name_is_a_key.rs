use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(name = "phone", capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "'sms:' + phone", capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "'sms'", capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = phone, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
