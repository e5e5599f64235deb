#![deny(warnings)]

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "tenant + phnoe", capacity = 1, refill = 1)]
fn f(tenant: u64, phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {
    let _ = f(1, "2");
}
