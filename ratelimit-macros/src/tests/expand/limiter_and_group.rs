#[rate_limit(
    name = "upload",
    key = [self.tenant, user],
    capacity = 5,
    refill = 1,
    limiter = self.limiter,
    group = self.tenant,
    crate = ::limits::kit,
)]
pub(crate) async fn upload(&mut self, user: u32) -> Result<(), Error> {
    Ok(())
}
