use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
trait T {
    fn f();
}

fn main() {}
