use ratelimit_kit::rate_limit;

struct Json<T>(T);

#[rate_limit(capacity = 20, refill = 5)]
fn f() -> &'static str {
    "done"
}

#[rate_limit(capacity = 20, refill = 5)]
async fn g() -> Json<u8> {
    Json(1)
}

fn main() {}
