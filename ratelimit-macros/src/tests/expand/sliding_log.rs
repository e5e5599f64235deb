#[rate_limit(name = "log", algo = "sliding_log", limit = 100, window = "250ms", cost = 3)]
fn write(line: &str) -> Option<()> {
    Some(())
}
