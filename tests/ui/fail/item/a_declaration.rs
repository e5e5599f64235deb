use ratelimit_kit::{RateLimitError, rate_limit};

trait Sender {
    #[rate_limit(capacity = 20, refill = 5)]
    fn send(&self) -> Result<(), RateLimitError>;
}

fn main() {}
