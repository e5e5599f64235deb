use ratelimit_kit::rate_limit;

async fn later(id: u64) -> u64 {
    id
}

#[rate_limit(capacity = 20, refill = 5, on_limited = later(id))]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
