//! The attribute on the functions that people write.

mod answers;
mod arguments;
mod futures;
mod hygiene;
mod names;
mod shapes;
mod stacks;
mod support;
