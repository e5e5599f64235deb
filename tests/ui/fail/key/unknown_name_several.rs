use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "tenant + ':' + usr + ':' + phnoe", capacity = 20, refill = 5)]
fn send_sms(phone: &str, user: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len() + user.len())
}

fn main() {}
