use ratelimit_kit::rate_limit;

fn main() {
    #[rate_limit(capacity = 20, refill = 5)]
    let f = || Some(1);
    let _ = f();
}
