#[rate_limit(name = "i", capacity = 1, refill = 1)]
fn f() -> Option<u8> {
    use std::cmp::max;
    const LEAST: u8 = 1;
    let most = max(LEAST, 2);
    fn later() {}
    Some(most)
}
