#[rate_limit(name = "p", capacity = 1, refill = 1, on_limited = panic!("too many"))]
fn f() -> u8 {
    1
}
