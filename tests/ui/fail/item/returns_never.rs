use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
fn f(_id: u64) -> ! {
    loop {}
}

fn main() {}
