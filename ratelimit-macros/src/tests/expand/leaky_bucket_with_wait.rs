#[rate_limit(name = "checkout", algo = leaky_bucket, capacity = 100, leak = "1/15s", wait = "2s")]
async fn checkout(cart: Cart) -> Result<Order, Error> {
    pay(cart).await
}
