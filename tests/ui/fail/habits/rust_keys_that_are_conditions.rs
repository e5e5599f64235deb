use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = phone == "a", capacity = 20, refill = 5)]
fn compared(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = phone.is_empty(), capacity = 20, refill = 5)]
fn asked(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
