use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
unsafe extern "C" {
    fn f();
}

fn main() {}
