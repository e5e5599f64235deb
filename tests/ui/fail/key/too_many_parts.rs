use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n", capacity = 20, refill = 5)]
fn send_sms(n: u64) -> Result<u64, RateLimitError> {
    Ok(n)
}

fn main() {}
