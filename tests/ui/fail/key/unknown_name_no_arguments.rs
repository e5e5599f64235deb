use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "'sms:' + phone", capacity = 20, refill = 5)]
fn send_sms() -> Result<usize, RateLimitError> {
    Ok(0)
}

fn main() {}
