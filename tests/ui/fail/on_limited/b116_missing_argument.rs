use ratelimit_kit::rate_limit;

fn none(id: u64) -> u64 {
    id
}

#[rate_limit(capacity = 20, refill = 5, on_limited = none())]
fn f(id: u64) -> u64 {
    id
}

fn main() {}
