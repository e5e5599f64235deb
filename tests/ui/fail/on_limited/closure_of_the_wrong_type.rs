use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5, on_limited = |error| error)]
fn f(id: u64) -> u64 {
    id
}

fn main() {}
