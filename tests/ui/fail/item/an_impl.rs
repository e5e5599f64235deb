use ratelimit_kit::rate_limit;

struct S;

#[rate_limit(capacity = 20, refill = 5)]
impl S {
    fn f() {}
}

fn main() {}
