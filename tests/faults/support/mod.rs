//! What tests of this binary share.

pub(crate) mod calls;
pub(crate) mod measure;
pub(crate) mod memory;
pub(crate) mod traffic;
pub(crate) mod wait;
