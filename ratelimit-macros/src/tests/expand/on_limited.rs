#[rate_limit(name = "quote", capacity = 5, refill = 1, on_limited = cached(id).await, on_unavailable = |error| Price::unknown(error))]
async fn price(id: u64) -> Price {
    fetch(id).await
}
