//! Specs that hold wherever Redis runs: each is a function of the [place](crate::place).

mod foreign;
mod kept;
mod persisted;
mod shifted;

pub use self::foreign::{damaged, foreign, foreign_values};
pub use self::kept::Kept;
pub use self::persisted::persisted;
pub use self::shifted::{shifted, shifted_node};
