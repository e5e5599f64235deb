use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "@nobody", capacity = 20, refill = 5)]
fn send_sms(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
