use std::pin::Pin;

use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move { id })
}

fn main() {}
