//! What is configured.

#[cfg(feature = "tls")]
use super::pem::Pem;

/// The certificates of both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    /// The only authorities that are trusted, if any are given; else those of the system.
    #[cfg(feature = "tls")]
    pub(crate) roots: Option<Pem>,
    /// The client's certificate and its key.
    #[cfg(feature = "tls")]
    pub(crate) identity: Option<(Pem, Pem)>,
}

#[cfg(not(feature = "tls"))]
impl Tls {
    #[expect(clippy::unused_self, reason = "as with the feature `tls`")]
    pub(in super::super) const fn can_change(&self) -> bool {
        false
    }
}
