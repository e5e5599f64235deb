//! The walk over addresses, driven by libFuzzer: `cargo xtask fuzz`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::address(bytes));

/// Without libFuzzer there is no program.
#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    use std::io::Write;

    let _ = writeln!(std::io::stderr(), "this is started by `cargo xtask fuzz`");
    std::process::ExitCode::FAILURE
}
