use std::time::Duration;

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 5, refill = every)]
fn f(every: Duration) -> Result<Duration, RateLimitError> {
    Ok(every)
}

fn main() {}
