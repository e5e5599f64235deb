//! B012: no lint fires because of the expansion. `cargo clippy --all-targets` is what checks it; the
//! functions are called as well, so that none is dead.

mod everything;
mod explicit_returns;
mod traits;

// In a function of `everything`, the `allow` that `#[tokio::test]` writes would meet its `forbid`.
#[tokio::test]
async fn all_of_them_run() -> Result<(), Box<dyn std::error::Error>> {
    everything::run().await
}
