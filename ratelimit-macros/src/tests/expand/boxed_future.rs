#[rate_limit(name = "f", key = "id", capacity = 1, refill = 1)]
fn find<'a>(id: &'a str) -> Pin<Box<dyn Future<Output = Result<u8, Error>> + Send + 'a>> {
    let started = Instant::now();
    Box::pin(async move { search(id, started).await })
}
