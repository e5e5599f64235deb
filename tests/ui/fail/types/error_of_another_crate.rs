use ratelimit_kit::rate_limit;

#[rate_limit(capacity = 20, refill = 5)]
fn f() -> Result<u8, String> {
    Ok(1)
}

#[rate_limit(capacity = 20, refill = 5)]
async fn g() -> Result<u8, (u16, String)> {
    Ok(1)
}

#[rate_limit(capacity = 20, refill = 5)]
fn h() -> Result<u8, ()> {
    Ok(1)
}

fn main() {}
