// Nothing in the expansion needs the prelude.

#![no_implicit_prelude]

extern crate std;

use ::ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "'a:' + id", name = "a", capacity = 1, refill = "1/15s", cost = id, when = id > 0)]
#[rate_limit(key = [id], algo = fixed_window, limit = id, window = "1min", mode = shadow)]
fn sync(id: u64) -> ::std::result::Result<u64, RateLimitError> {
    ::std::result::Result::Ok(id)
}

#[rate_limit(key = "id", capacity = 1, refill = 1, on_limited = |_| id, on_unavailable = 7)]
async fn asynchronous(id: u64) -> u64 {
    id
}

type Answer = ::std::result::Result<usize, RateLimitError>;

// A name of the prelude that means something else here.
#[allow(dead_code)]
struct Box;

#[rate_limit(key = "id", capacity = 1, refill = 1)]
fn built(id: &str) -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = Answer> + '_>> {
    let len = id.len();
    ::std::boxed::Box::pin(::std::future::ready(::std::result::Result::Ok(len)))
}

fn main() {
    ::std::assert!(sync(1).is_ok());
    ::std::assert!(sync(1).is_err());
    ::std::mem::drop(asynchronous(1));
    ::std::mem::drop(built("a"));
}
