use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = phone ?? "x", capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = [@ip, phone], capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = prefix(@ip, 24), capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = (req) => req.phone, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = lambda r: r.phone, capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = $"sms:{phone}", capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = phone ? a : b, capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = phone:tenant, capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = [phone tenant], capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = new Key(phone), capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = $phone, capacity = 20, refill = 5)]
fn f10(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = $binary_remote_addr, capacity = 20, refill = 5)]
fn f11(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
