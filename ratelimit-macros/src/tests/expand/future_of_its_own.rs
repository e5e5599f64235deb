#[rate_limit(name = "f", key = "id", capacity = 1, refill = 1)]
fn find(&self, id: u64, mut seen: Vec<u64>, _: Permit) -> impl Future<Output = Result<u8, Error>> + use<'_> {
    const MOST: u64 = 9;
    seen.push(id);
    self.search(seen).map_err(Error::from)
}
