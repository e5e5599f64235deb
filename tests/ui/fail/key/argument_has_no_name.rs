use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "args[0]", capacity = 20, refill = 5)]
fn send_sms(_: &str) -> Result<usize, RateLimitError> {
    Ok(0)
}

fn main() {}
