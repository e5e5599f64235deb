use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
mod m {
    pub fn f() {}
}

fn main() {}
