use std::time::SystemTime;

use ratelimit_kit::{RateLimitError, rate_limit};

enum Plan {
    Free,
    Paid,
}

#[rate_limit(key = "tags", capacity = 20, refill = 5)]
fn list(tags: Vec<String>) -> Result<usize, RateLimitError> {
    Ok(tags.len())
}

#[rate_limit(key = "plan", capacity = 20, refill = 5)]
fn own(plan: Plan) -> Result<bool, RateLimitError> {
    Ok(matches!(plan, Plan::Free | Plan::Paid))
}

#[rate_limit(key = now, capacity = 20, refill = 5)]
fn foreign(now: SystemTime) -> Result<SystemTime, RateLimitError> {
    Ok(now)
}

fn main() {}
