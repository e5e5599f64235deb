use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "user-phone", capacity = 20, refill = 5)]
fn f0(phone: &str, user: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "user/phone", capacity = 20, refill = 5)]
fn f1(phone: &str, user: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@user or @ip", capacity = 20, refill = 5)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@ip/24", capacity = 20, refill = 5)]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "sms:{phone}:{0}", capacity = 20, refill = 5)]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "`sms:${phone}`", capacity = 20, refill = 5)]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "\"sms:\" + #phone", capacity = 20, refill = 5)]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "@{ip}", capacity = 20, refill = 5)]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "headers['X-Tenant']", capacity = 20, refill = 5)]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "$http_x_tenant", capacity = 20, refill = 5)]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "req.user?.id ?? req.ip", capacity = 20, refill = 5)]
fn f10(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "req.ip + ':' + req.path", capacity = 20, refill = 5)]
fn f11(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "format!(\"sms:{}\", phone)", capacity = 20, refill = 5)]
fn f12(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(key = "-1", capacity = 20, refill = 5)]
fn f13(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
