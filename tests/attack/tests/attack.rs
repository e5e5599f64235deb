//! The attacks, for some seconds each.

#![allow(clippy::unwrap_used, reason = "a test: a panic is a failed test")]

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One attack at a time: each keeps all processors busy.
static MACHINE: Mutex<()> = Mutex::new(());

fn honest_callers_lose_nothing(attack: &str) {
    let _one = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_attack"));
    let output = command.args(["--seconds", "4", "--only", attack]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{error}");
}

#[test]
fn by_clients_who_close() {
    honest_callers_lose_nothing("closing");
}

#[test]
fn by_refusals_that_say_they_are_grpc() {
    honest_callers_lose_nothing("grpc");
}

#[test]
fn by_callers_who_leave_the_line() {
    honest_callers_lose_nothing("line");
}

#[test]
fn by_invented_keys() {
    honest_callers_lose_nothing("keys");
}

#[test]
fn by_large_bodies() {
    honest_callers_lose_nothing("large");
}

#[test]
fn by_a_refused_address_with_many_connections() {
    honest_callers_lose_nothing("flood");
}
