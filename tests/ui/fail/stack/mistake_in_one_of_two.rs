use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "phone", capacity = 20, refill = 5)]
#[rate_limit(ky = "tenant", capacity = 20, refill = 5)]
fn f(phone: &str, tenant: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
