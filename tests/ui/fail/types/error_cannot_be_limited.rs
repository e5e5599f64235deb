use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
fn f(id: u64) -> Result<u64, Error> {
    Ok(id)
}

struct Error;

fn main() {}
