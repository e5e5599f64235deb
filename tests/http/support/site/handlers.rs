//! Handlers that are the same in axum and in actix-web.

use ratelimit_kit::{Limiter, RateLimitError, RequestContext, rate_limit};

/// The limiter, taken from wherever the framework keeps it.
pub(crate) struct Use(pub(crate) Limiter);

type Answer = Result<String, RateLimitError>;

pub(crate) async fn free() -> &'static str {
    "free"
}

#[rate_limit(name = "ip", key = "@ip", algo = fixed_window, limit = 2, window = 60, limiter = l.0)]
pub(crate) async fn ip(l: Use) -> Answer {
    Ok("ip".to_owned())
}

#[rate_limit(
    name = "user",
    key = "@user ?: 'anonymous'",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = l.0,
)]
pub(crate) async fn user(l: Use) -> Answer {
    let context = RequestContext::current();
    Ok(context.as_ref().and_then(RequestContext::user).unwrap_or("anonymous").to_owned())
}

#[rate_limit(
    name = "tenant",
    key = "'t:' + @tenant ?: 'none'",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = l.0,
)]
pub(crate) async fn tenant(l: Use) -> Answer {
    Ok("tenant".to_owned())
}

#[rate_limit(
    name = "device",
    key = "@device ?: 'none'",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = l.0,
)]
pub(crate) async fn device(l: Use) -> Answer {
    Ok("device".to_owned())
}

#[rate_limit(name = "path", key = "@path", algo = fixed_window, limit = 2, window = 60, limiter = l.0)]
pub(crate) async fn by_path(l: Use) -> Answer {
    Ok("path".to_owned())
}

#[rate_limit(
    name = "method",
    key = "@method",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = l.0,
)]
pub(crate) async fn method(l: Use) -> Answer {
    Ok("method".to_owned())
}

#[rate_limit(
    name = "header",
    key = "@header['X-Api-Key'] ?: 'no key'",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = l.0,
)]
pub(crate) async fn header(l: Use) -> Answer {
    Ok("header".to_owned())
}

/// The minute refuses first, the year is there too, and a third rule has no name.
#[rate_limit(
    name = "M",
    key = "'m'",
    algo = fixed_window,
    limit = 5,
    window = 60,
    limiter = l.0,
)]
#[rate_limit(name = "Y", key = "'y'", algo = fixed_window, limit = 100_000, window = "365d")]
#[rate_limit(key = "'nameless'", capacity = 50, refill = 5)]
pub(crate) async fn minute_and_year(l: Use) -> Answer {
    Ok("stacked".to_owned())
}

#[rate_limit(
    name = "M2",
    key = "'m'",
    algo = fixed_window,
    limit = 5,
    window = 60,
    limiter = l.0,
)]
#[rate_limit(name = "H", key = "'h'", algo = fixed_window, limit = 5, window = "1h")]
pub(crate) async fn minute_and_hour(l: Use) -> Answer {
    Ok("stacked".to_owned())
}

/// Work that is spawned, and told where it comes from.
pub(crate) async fn spawned(l: Use) -> Answer {
    let Some(context) = RequestContext::current() else { return Ok("no context".to_owned()) };
    tokio::spawn(context.scope(ip(l))).await.expect("it ends")
}

/// Work that is spawned, and not told.
pub(crate) async fn lost(l: Use) -> Answer {
    tokio::spawn(ip(l)).await.expect("it ends")
}

#[rate_limit(
    name = "costly",
    key = "'costly'",
    capacity = 3,
    refill = 1,
    cost = cost(),
    limiter = l.0,
)]
pub(crate) async fn costly(l: Use) -> Answer {
    Ok("costly".to_owned())
}

/// More than there ever is.
fn cost() -> u32 {
    5
}

#[rate_limit(name = "ten", key = "'ten'", algo = fixed_window, limit = 1, window = 10, limiter = l.0)]
pub(crate) async fn ten_seconds(l: Use) -> Answer {
    Ok("ten".to_owned())
}

/// The budget of nobody.
#[rate_limit(
    name = "zero",
    key = "'zero'",
    algo = fixed_window,
    limit = none(),
    window = 10,
    limiter = l.0,
)]
pub(crate) async fn zero(l: Use) -> Answer {
    Ok("zero".to_owned())
}

fn none() -> u32 {
    0
}
