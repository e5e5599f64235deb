#[rate_limit(name = "all", capacity = 20, refill = 5, headers = hidden)]
fn f() -> Result<(), Error> {
    work()
}
