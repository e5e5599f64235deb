//! What tests of this binary share.

pub(crate) mod calls;
pub(crate) mod ground;
pub(crate) mod monitor;
