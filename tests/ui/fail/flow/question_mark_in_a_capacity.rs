use ratelimit_kit::rate_limit;

#[rate_limit(capacity = id?, refill = 1)]
fn f(id: Option<u64>) -> Option<u64> {
    id
}

fn main() {}
