//! Tests of the attribute as a whole. Those of one station are at the end of its file.

mod amounts;
mod expand;
mod habits;
mod key_texts;
mod messages;
mod mistakes;
mod robust;
mod syntax;
