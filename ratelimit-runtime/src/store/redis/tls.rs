//! Redis over TLS.
//!
//! Not by the Redis client, which takes the process' choice of cryptography and leaves a limiter
//! no way but to make that choice for the application. Here a connection brings its own: that of
//! the process if it has made one, and else ring.

#[cfg(feature = "tls")]
mod connect;
#[cfg(feature = "tls")]
mod pem;

#[cfg(feature = "tls")]
pub(super) use self::connect::Config;
#[cfg(feature = "tls")]
pub(crate) use self::pem::Pem;

/// Certificates, if others than those of the system count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    #[cfg(feature = "tls")]
    pub(crate) roots: Option<Pem>,
    /// The client's certificate and its key.
    #[cfg(feature = "tls")]
    pub(crate) identity: Option<(Pem, Pem)>,
}

#[cfg(not(feature = "tls"))]
impl Tls {
    #[expect(clippy::unused_self, reason = "as with the feature `tls`")]
    pub(super) const fn can_change(&self) -> bool {
        false
    }
}
