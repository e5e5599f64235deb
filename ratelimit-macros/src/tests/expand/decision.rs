#[rate_limit(key = "phone", name = "sms", capacity = 20, refill = 5, decision = decision)]
async fn send(phone: &str) -> Result<u64, Error> {
    Ok(decision.outcomes().len())
}
