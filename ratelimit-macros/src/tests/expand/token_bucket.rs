#[rate_limit(key = "'sms:' + phone", capacity = 20, refill = 5)]
async fn send_sms(phone: &str) -> Result<Receipt, SmsError> {
    gateway().send(phone).await
}
