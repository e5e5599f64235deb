#[rate_limit(name = "orders", algo = sliding_counter, limit = 50, window = "1h", sub_windows = 10)]
async fn orders() -> Result<Vec<Order>, Error> {
    load().await
}
