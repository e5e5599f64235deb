//! Hands its arguments to the soak, which the gate runs for a minute.

use std::ffi::OsString;

use crate::Result;
use crate::cmd::{cargo, run as must};

pub(crate) fn run(args: Vec<OsString>) -> Result {
    let mut command = cargo(&["run", "--quiet", "--package", "soak", "--"]);
    must(command.args(args))
}
