use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5, group = id?)]
fn f(id: Option<u64>) -> Option<u64> {
    id
}

fn main() {}
