use std::pin::Pin;
use std::rc::Rc;

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: Rc<str>) -> Pin<Box<dyn Future<Output = Result<usize, RateLimitError>> + Send>> {
    let len = id.len();
    Box::pin(async move { Ok(len) })
}

fn main() {}
