//! Hands its arguments to the attacks, of which the tests run some seconds.

use std::ffi::OsString;

use crate::Result;
use crate::cmd::{cargo, run as must};

pub(crate) fn run(args: Vec<OsString>) -> Result {
    must(cargo(&["run", "--quiet", "--package", "attack", "--"]).args(args))
}
