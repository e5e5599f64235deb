//! What tests of this binary share: a client, a site on every framework, and limiters.

pub(crate) mod client;
pub(crate) mod site;

use ratelimit_kit::{Clock, Limiter, ManualClock, OnError};

/// A limiter whose time stands still, so that nothing comes back during a test.
pub(crate) fn limiter() -> Limiter {
    Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap()
}

/// A limiter whose store never answers.
pub(crate) fn without_a_store() -> Limiter {
    // Nobody listens on the port that the kernel keeps for this test and that is given up at once.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("redis://127.0.0.1:{port}");
    Limiter::builder().redis(url).on_error(OnError::Closed).build().unwrap()
}
