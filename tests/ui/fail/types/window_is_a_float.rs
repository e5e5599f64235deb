use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = 5, window = seconds)]
fn f(seconds: f32) -> Result<f32, RateLimitError> {
    Ok(seconds)
}

fn main() {}
