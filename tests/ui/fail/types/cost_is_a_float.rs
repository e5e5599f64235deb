use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5, cost = weight)]
fn f(weight: f64) -> Result<f64, RateLimitError> {
    Ok(weight)
}

fn main() {}
