//! What must hold for any bytes that people send.
//!
//! Plain functions over bytes: libFuzzer calls them with whatever makes them do something new (`cargo
//! xtask fuzz`), and the tests of this package with what is kept in `corpus/`.

#![allow(clippy::panic, clippy::missing_panics_doc, reason = "a panic is what a fuzzer finds")]

mod address;
mod input;
mod reference;

pub use self::address::address;
