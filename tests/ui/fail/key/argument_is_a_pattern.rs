use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "args[0]", capacity = 20, refill = 5)]
fn send_sms((area, number): (u16, u64)) -> Result<u64, RateLimitError> {
    Ok(number + u64::from(area))
}

fn main() {}
