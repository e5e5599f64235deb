//! A key borrows nothing across the `await`: what may be sent to another thread but not be shared
//! between threads can be an argument that the key looks into.

use std::cell::Cell;

use ratelimit_kit::{KeyPart, RateLimitError, rate_limit};

/// Like a request with a body that is read once.
struct Request {
    phone: String,
    user: Option<String>,
    body: Cell<Option<Vec<u8>>>,
}

#[rate_limit(key = "request.phone + lower(request.user) ?: 'none'", capacity = 1, refill = 1)]
async fn borrowed_for_the_key(request: Request) -> Result<Option<Vec<u8>>, RateLimitError> {
    Ok(request.body.take())
}

#[rate_limit(key = [request.phone.as_str(), "x"], capacity = 1, refill = 1)]
async fn in_rust(request: Request) -> Result<Option<Vec<u8>>, RateLimitError> {
    Ok(request.body.take())
}

#[rate_limit(key = "part", capacity = 1, refill = 1)]
async fn generic(part: impl KeyPart + Send) -> Result<(), RateLimitError> {
    let _ = part;
    Ok(())
}

fn is_send(_: impl Send) {}

fn main() {
    let request = || Request { phone: "138".to_owned(), user: None, body: Cell::new(None) };
    is_send(borrowed_for_the_key(request()));
    is_send(in_rust(request()));
    is_send(generic(Cell::new(1).get()));
}
