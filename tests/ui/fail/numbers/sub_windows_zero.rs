use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = sliding_counter, limit = 5, window = 60, sub_windows = 0)]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
