use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = FIXED_WINDOW, limit = 5, window = 60)]
fn f0(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = Algorithm::FixedWindow, limit = 5, window = 60)]
fn f1(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = "sliding_window", limit = 5, window = 60)]
fn f2(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, mode = "dry_run")]
fn f3(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, on_error = "fail_open")]
fn f4(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = "1m")]
fn f5(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = "1month")]
fn f6(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, when = "phone.len() > 3")]
fn f7(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, limiter = "redis")]
fn f8(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, cost = "phone.len()")]
fn f9(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = "${sms.capacity}", refill = 5)]
fn f10(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, on_limited = too_many)]
fn f11(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, when = |phone| true)]
fn f12(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(algo = fixed_window, limit = 5, window = 5 * time.Minute)]
fn f13(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

#[rate_limit(capacity = 20, refill = 5, on_limited = ())]
fn f14(phone: &str) -> Result<usize, RateLimitError> {
    Ok(phone.len())
}

fn main() {}
