use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(when = @vip, capacity = 20, refill = 5)]
fn f0(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(cost = #n, capacity = 20, refill = 5)]
fn f1(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(when = not vip, capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(when = vip and phone, capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(when = phone != null, capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(when = vip = true, capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(when = if vip, capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(cost = 1 if vip else 2, capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(cost = 1 +, capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(cost = "#texts.size()", capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = sms, capacity = 20, refill = 5)]
fn f10(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = sms:send, capacity = 20, refill = 5)]
fn f11(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(mode = dry-run, capacity = 20, refill = 5)]
fn f12(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(on_limited = throw new Error(), capacity = 20, refill = 5)]
fn f13(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(on_limited = e => Err(e), capacity = 20, refill = 5)]
fn f14(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = format!("sms"), capacity = 20, refill = 5)]
fn last(phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
