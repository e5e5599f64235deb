//! Specs that hold wherever Redis runs: each is a function of the [place](crate::place).

mod foreign;
mod kept;
mod persisted;
mod shifted;

pub(crate) use self::foreign::{damaged, foreign, foreign_values};
pub(crate) use self::kept::Kept;
pub(crate) use self::persisted::persisted;
pub(crate) use self::shifted::{shifted, shifted_node};
