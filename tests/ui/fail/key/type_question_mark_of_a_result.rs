use ratelimit_kit::{RateLimitError, rate_limit};

struct User {
    id: u64,
}

#[rate_limit(key = "user?.id ?: 'none'", capacity = 20, refill = 5)]
fn greet(user: Result<User, ()>) -> Result<Option<u64>, RateLimitError> {
    Ok(user.ok().map(|user| user.id))
}

fn main() {}
