//! The soak, short enough for the gate. It is told apart from the other tests because it takes its
//! time, and because it wants the machine for itself.

use std::process::Command;

#[test]
#[ignore = "takes more than a minute: `cargo xtask test` runs it as a step of its own"]
fn a_minute() {
    // Its output goes where ours goes, also when all is well: the tables are worth a look.
    let soak = Command::new(env!("CARGO_BIN_EXE_soak")).args(["--seconds", "60"]).status();
    assert!(soak.unwrap().success(), "see above");
}
