use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5, decision = "seen")]
fn text(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

#[rate_limit(capacity = 20, refill = 5, decision = self)]
fn receiver(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
