// The place is drawn under the literal as typed, escapes and all.

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(algo = fixed_window, limit = 5, window = "60\u{20}parsec")]
fn f(id: u64) -> Result<u64, RateLimitError> {
    Ok(id)
}

fn main() {}
