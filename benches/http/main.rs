//! A limited handler of axum beside the bare one and beside `tower_governor`, in one interleaved run.
//!
//! `cargo bench -p benches --bench http` prints the tables of `docs/performance.md`.

#![allow(clippy::print_stdout, reason = "prints its tables")]

mod calls;
mod cases;
mod sockets;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sockets::print()?;
    println!();
    calls::print()
}

fn as_f64(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
