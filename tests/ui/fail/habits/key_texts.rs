use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "@user ?: '@ip'", capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@user ?: 'phone'", capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'anonymous' ?: @user", capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@header['X-Forwarded-For'] ?: @ip", capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@method + 'phone'", capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'#tenant:' + phone", capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'@ip:' + phone", capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'client_ip'", capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'user_id'", capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'x-api-key'", capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms_phone'", capacity = 20, refill = 5)]
fn f10(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:$1'", capacity = 20, refill = 5)]
fn f11(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'sms:<to>'", capacity = 20, refill = 5)]
fn f12(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'lower(phone)'", capacity = 20, refill = 5)]
fn f13(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "'it's:' + phone", capacity = 20, refill = 5)]
fn f14(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "lower(\"x\")", capacity = 20, refill = 5)]
fn f15(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
