#[instrument]
#[rate_limit(key = "user", capacity = 5, refill = 1)]
#[doc = "Transfers."]
#[ratelimit_kit::rate_limit(key = "user", algo = fixed_window, limit = 100, window = "1d")]
#[rate_limit(name = "bank", capacity = 1000, refill = "10000/min")]
pub async fn transfer(user: u64, amount: u64) -> Result<(), Error> {
    book(user, amount).await
}
