use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
async fn f(_id: u64) -> () {}

fn main() {}
