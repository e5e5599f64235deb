//! No lint fires because of the expansion. `cargo clippy --all-targets` is what checks it; the
//! functions are called as well, so that none is dead.

mod everything;
mod explicit_returns;
mod traits;

// In a function of `everything`, the `allow` that `#[tokio::test]` writes would meet its `forbid`.
#[tokio::test]
async fn b012_no_lint_fires_because_of_the_expansion() -> Result<(), Box<dyn std::error::Error>> {
    everything::run().await
}
