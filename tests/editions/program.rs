//! B001 and B002 as a crate of its own: see `tests/editions.rs`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ratelimit_kit::{RateLimitError, rate_limit};

#[derive(Debug)]
pub struct Error;

impl From<RateLimitError> for Error {
    fn from(_: RateLimitError) -> Self {
        Self
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(_: std::num::ParseIntError) -> Self {
        Self
    }
}

pub struct Service {
    v: Vec<u32>,
}

impl Service {
    #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1)]
    pub fn list(&self, id: &str) -> Result<impl Iterator<Item = u32> + '_, Error> {
        drop(id.to_owned());
        Ok(self.v.iter().copied())
    }

    #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1)]
    pub async fn alist(&self, id: &str) -> Result<impl Iterator<Item = u32> + '_, Error> {
        drop(id.to_owned());
        Ok(self.v.iter().copied())
    }

    #[rate_limit(key = "c.id", capacity = 2, refill = 1)]
    pub async fn send<'a>(&self, c: &'a Client) -> Result<Request<'a>, Error> {
        let _ = self.v.len();
        Ok(Request(&c.name))
    }
}

#[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1)]
pub async fn job(id: u64) -> Result<Box<dyn FnOnce() -> u8 + Send>, Error> {
    let _ = id;
    Ok(Box::new(|| 7))
}

#[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1)]
pub fn forever(id: u64) -> Result<u64, Error> {
    let mut n = id;
    loop {
        n += 1;
        if n > 9 {
            return Ok(n);
        }
    }
}

#[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1)]
pub fn parse(id: &str) -> Result<u32, Error> {
    Ok(id.parse::<u32>()?)
}

pub trait Command: Send + Sync {}
pub struct Message<'a>(pub &'a str);
pub struct Client {
    id: u64,
    name: String,
}
pub struct Request<'a>(pub &'a str);
pub struct Has<'a> {
    id: &'a str,
}

#[rate_limit(key = "t", capacity = 2, refill = 1)]
pub fn help<'a>(cmds: &[Arc<dyn Command>], t: &'a str) -> Result<Message<'a>, Error> {
    let _ = cmds.len();
    Ok(Message(t))
}

#[rate_limit(key = "h.id", capacity = 2, refill = 1)]
pub async fn g(h: Has<'_>) -> Result<(), Error> {
    let _ = h.id;
    Ok(())
}

#[rate_limit(key = "x + y", capacity = 2, refill = 1)]
pub fn w<'a: 'b, 'b>(x: &'a str, y: &'b str) -> Result<&'b str, Error> {
    Ok(if x.is_empty() { y } else { x })
}

/// What builds a future moves into one.
#[rate_limit(key = "id", capacity = 2, refill = 1)]
pub fn built(
    id: u64,
    mut list: Vec<u64>,
    pair: (String, u8),
) -> Pin<Box<dyn Future<Output = Result<usize, Error>> + Send>> {
    list.push(id);
    if list.is_empty() {
        return Box::pin(std::future::ready(Ok(0)));
    }
    let name = pair.0;
    Box::pin(async move { Ok(list.len() + name.len()) })
}

/// The same without a box.
#[rate_limit(key = "id", capacity = 2, refill = 1)]
pub fn opaque(id: u64, list: Vec<u64>) -> impl Future<Output = Result<u64, Error>> + Send {
    let sum = list.iter().sum::<u64>();
    async move { Ok(sum + id) }
}

/// The owner goes while what was borrowed from the client alone is still used.
pub async fn owner_goes(client: &Client) -> Result<&str, Error> {
    let service = Service { v: vec![1] };
    let request = service.send(client).await?;
    drop(service);
    Ok(request.0)
}
