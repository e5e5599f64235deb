//! Hands its arguments to the round trips. Optimized: what is measured is the network.

use std::ffi::OsString;

use crate::Result;
use crate::cmd::{cargo, run as must};

pub(crate) fn run(args: Vec<OsString>) -> Result {
    let words = ["run", "--quiet", "--release", "--package", "soak", "--bin", "roundtrips", "--"];
    must(cargo(&words).args(args))
}
