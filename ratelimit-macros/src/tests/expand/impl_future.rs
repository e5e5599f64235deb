#[rate_limit(name = "f", key = "id", capacity = 1, refill = 1)]
fn find(id: u64) -> impl Future<Output = Result<u8, Error>> {
    async move { Ok(1) }
}
