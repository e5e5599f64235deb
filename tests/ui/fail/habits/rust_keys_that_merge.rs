use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = tenant + user, capacity = 20, refill = 5)]
fn f0(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = ["@ip", user], capacity = 20, refill = 5)]
fn f1(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = ["tenant", user], capacity = 20, refill = 5)]
fn f2(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = ["'sms:'", user], capacity = 20, refill = 5)]
fn f3(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = format!("@ip:{user}"), capacity = 20, refill = 5)]
fn f4(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = std::sync::Arc::new("sms"), capacity = 20, refill = 5)]
fn f5(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = my_key("user"), capacity = 20, refill = 5)]
fn f6(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = Uuid::new_v4(), capacity = 20, refill = 5)]
fn f7(tenant: u64, user: u64) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
