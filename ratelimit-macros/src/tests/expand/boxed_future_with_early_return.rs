#[rate_limit(name = "f", capacity = 1, refill = 1)]
fn find<'a>(&'a self, id: &'a str, _unused: &str) -> Pin<Box<dyn Future<Output = Result<u8, Error>> + Send + 'a>> {
    if id.is_empty() {
        return Box::pin(ready(Ok(0)));
    }
    Box::pin(self.search(id))
}
