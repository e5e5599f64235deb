#[rate_limit(name = "all", capacity = 20, refill = 5, fields = hidden)]
fn f() -> Result<(), Error> {
    work()
}
