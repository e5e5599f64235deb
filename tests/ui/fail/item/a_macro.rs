use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
macro_rules! m {
    () => {};
}

m!();

fn main() {}
