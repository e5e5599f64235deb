use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 1, refill = 1)]
fn f(id: u64) -> impl std::fmt::Display {
    id
}

fn main() {}
