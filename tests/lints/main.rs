//! B012: no lint fires because of the expansion. `cargo clippy --all-targets` is what checks it; the
//! functions are called as well, so that none is dead.

mod everything;
mod explicit_returns;
mod traits;
