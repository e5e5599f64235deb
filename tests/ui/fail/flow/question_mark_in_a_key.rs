use ratelimit_kit::{RateLimitError, rate_limit};

enum Error {
    Limited,
    Parse,
}

impl From<RateLimitError> for Error {
    fn from(_: RateLimitError) -> Self {
        Self::Limited
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(_: std::num::ParseIntError) -> Self {
        Self::Parse
    }
}

#[rate_limit(key = id.parse::<u64>()?, capacity = 20, refill = 5)]
fn f(id: &str) -> Result<u64, Error> {
    Ok(id.len() as u64)
}

fn main() {}
