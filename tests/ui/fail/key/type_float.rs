use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "'sms:' + price", capacity = 20, refill = 5)]
fn send_sms(price: f64) -> Result<f64, RateLimitError> {
    Ok(price)
}

fn main() {}
