//! Redis over TLS.
//!
//! The Redis client could do that too, but uses the cryptography that the process has chosen. If the process has
//! chosen none, the limiter would have to choose for it. Here each connection has its own: that of the
//! process if it has chosen one, else ring.

#[cfg(feature = "tls")]
mod connect;
#[cfg(feature = "tls")]
mod pem;
mod settings;

#[cfg(feature = "tls")]
pub(super) use self::connect::Config;
#[cfg(feature = "tls")]
pub(crate) use self::pem::Pem;
pub(crate) use self::settings::Tls;
