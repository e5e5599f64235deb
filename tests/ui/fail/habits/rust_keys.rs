use ratelimit_kit::{RateLimitError, rate_limit};

const KEY: &str = "'sms:' + phone";

#[rate_limit(key = KEY, capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = concat!("a", "b"), capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "phone", group = KEY, capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = ip, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = ("sms", phone), capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = |phone| phone, capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = KEY.to_string(), capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = stringify!(phone), capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
