use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "id", capacity = 20, refill = 5, decision = id)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
