use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
const C: u8 = 1;

fn main() {}
