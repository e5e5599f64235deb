use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = 5, window = 1m)]
fn f0(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

#[rate_limit(algo = fixed_window, limit = 5, window = 1w)]
fn f1(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

#[rate_limit(algo = fixed_window, limit = 5k, window = 60)]
fn f2(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
