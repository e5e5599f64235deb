//! The attribute on the functions that people write.

// The functions here are as people write them, odd ones included.
#![allow(
    clippy::boxed_local,
    clippy::expect_used,
    clippy::manual_async_fn,
    clippy::multiple_bound_locations,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used
)]

mod answers;
mod arguments;
mod decision;
mod functions;
mod futures;
mod hygiene;
mod names;
mod shapes;
mod stacks;
mod support;
