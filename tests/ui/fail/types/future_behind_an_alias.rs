use std::future::{Ready, ready};
use std::pin::Pin;

use ratelimit_kit::{RateLimitError, rate_limit};

type Boxed = Pin<Box<dyn Future<Output = Result<u8, RateLimitError>>>>;

#[rate_limit(capacity = 20, refill = 5)]
fn f() -> Boxed {
    Box::pin(async move { Ok(1) })
}

#[rate_limit(capacity = 20, refill = 5)]
fn g() -> Ready<Result<u8, RateLimitError>> {
    ready(Ok(1))
}

fn main() {}
