use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: u64) -> u64 {
    id
}

fn main() {}
