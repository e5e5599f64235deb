use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "idd", capacity = 0, refil = 5, cost = -1, mode = loud, name = "")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
