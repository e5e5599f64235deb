use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5, on_unavailable = |a, b| 0)]
fn f(id: u64) -> Option<u64> {
    Some(id)
}

fn main() {}
