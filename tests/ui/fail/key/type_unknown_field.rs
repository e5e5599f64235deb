use ratelimit_kit::{RateLimitError, rate_limit};

struct User {
    id: u64,
    nick: Option<String>,
    score: f64,
}

#[rate_limit(key = "'user:' + user.nikc", capacity = 20, refill = 5)]
fn greet(user: User) -> Result<(u64, Option<String>, f64), RateLimitError> {
    Ok((user.id, user.nick, user.score))
}

fn main() {}
