use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = sliding_log, limit = 1_000_001, window = 60)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
