use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "'login:@ip'", capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:#phone'", capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'phone'", capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:%s'", capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:{0}'", capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "['sms', 'phone']", capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(name = "sms:{phone}", capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "phone", group = "'tenant'", capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "1", capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:<Phone>'", capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
