use ratelimit_kit::rate_limit;

trait Stream {
    type Item;
}

struct Lines;

impl Stream for Lines {
    type Item = String;
}

#[rate_limit(capacity = 20, refill = 5)]
fn f() -> impl Stream<Item = String> {
    Lines
}

fn main() {}
