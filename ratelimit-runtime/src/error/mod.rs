//! What can be wrong with a call, with a configuration and with a store. What a caller gets is made of
//! these in `decision`.
//!
//! Nothing here ever holds a key, an address with credentials or another value of a user.

mod config;
mod mistake;
mod number;
mod redis;
mod store;

pub use self::config::ConfigError;
pub use self::mistake::InvalidCall;
pub use self::number::InvalidNumber;
pub(crate) use self::number::{Argument, Fault};
pub use self::redis::{InvalidCertificates, InvalidPasswordFile, InvalidUrl};
pub use self::store::StoreError;
