//! actix-web.

mod middleware;
mod responses;

pub use self::middleware::RateLimitMiddleware;
