use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = 5, window = "1h30min")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

#[rate_limit(algo = fixed_window, limit = 5, window = "1h5x")]
fn g(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
