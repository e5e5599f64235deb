use ratelimit_kit::rate_limit;

trait IntoResponse {}

impl IntoResponse for &str {}

#[rate_limit(capacity = 5, refill = 1, on_limited = "slow down")]
async fn f0() -> impl IntoResponse {
    "page"
}

fn main() {}
