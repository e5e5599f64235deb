use ratelimit_kit::rate_limit;

#[rate_limit(key = format!("{}", id?), capacity = 20, refill = 5)]
fn f(id: Option<u64>) -> Option<u64> {
    id
}

fn main() {}
