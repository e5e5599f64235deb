use ratelimit_kit::{RateLimitError, rate_limit};
use std::net::SocketAddr;

#[rate_limit(key = addr.to_string(), capacity = 20, refill = 5)]
fn f0(addr: SocketAddr) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = "addr", capacity = 20, refill = 5)]
fn f1(addr: SocketAddr) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(key = format!("ip:{addr}"), capacity = 20, refill = 5)]
fn f2(addr: SocketAddr) -> Result<(), RateLimitError> {
    Ok(())
}

fn main() {}
