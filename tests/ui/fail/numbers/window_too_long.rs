use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = 5, window = 4_503_599_628)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
