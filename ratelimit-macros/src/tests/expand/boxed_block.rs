#[rate_limit(name = "f", key = "[tenant, id]", capacity = 1, refill = 1)]
fn find(tenant: String, id: u64) -> BoxFuture<'static, Result<u8, Error>> {
    Box::pin(async move { search(id).await })
}
