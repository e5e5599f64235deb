use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "phone ?: other", capacity = 20, refill = 5)]
fn send_sms(phone: Option<&str>, other: Option<&str>) -> Result<usize, RateLimitError> {
    Ok(phone.map_or(0, str::len) + other.map_or(0, str::len))
}

fn main() {}
