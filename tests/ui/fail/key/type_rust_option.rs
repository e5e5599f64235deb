use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = [phone, kind], capacity = 20, refill = 5)]
fn send_sms(phone: Option<&str>, kind: u8) -> Result<usize, RateLimitError> {
    Ok(phone.map_or(0, str::len) + usize::from(kind))
}

fn main() {}
