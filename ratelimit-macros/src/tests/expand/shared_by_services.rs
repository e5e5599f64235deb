#[rate_limit(name = "orders", service = "shop", key = "user", capacity = 20, refill = 5)]
async fn order(user: u64) -> Result<(), RateLimitError> {
    Ok(())
}
