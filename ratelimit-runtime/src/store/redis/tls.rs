//! What TLS needs to know besides a URL.

use redis::{Client, ConnectionInfo};
#[cfg(feature = "tls")]
use rustls::pki_types::{CertificateDer, pem::PemObject as _};

use crate::error::ConfigError;

/// Certificates in PEM, if others than those of the system count.
#[derive(Clone, Default)]
pub(crate) struct Tls {
    #[cfg(feature = "tls")]
    pub(crate) roots: Option<Vec<u8>>,
    /// The client's certificate and its key.
    #[cfg(feature = "tls")]
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A key is a secret.
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(feature = "tls")]
impl Tls {
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, ConfigError> {
        if !matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            return Client::open(info).map_err(|_| ConfigError::RedisUrl);
        }
        // A file of something else has no certificates, which would fit no server, ever.
        if let Some(roots) = &self.roots
            && !CertificateDer::pem_slice_iter(roots).any(|certificate| certificate.is_ok())
        {
            return Err(ConfigError::Certificates);
        }
        // Without one for the process rustls panics, unless exactly one is compiled in. Somebody
        // else's choice stays.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let certificates = redis::TlsCertificates {
            client_tls: self.identity.clone().map(|(client_cert, client_key)| {
                redis::ClientTlsConfig { client_cert, client_key }
            }),
            root_cert: self.roots.clone(),
        };
        Client::build_with_tls(info, certificates).map_err(|_| ConfigError::Certificates)
    }
}

#[cfg(not(feature = "tls"))]
impl Tls {
    #[expect(clippy::unused_self, reason = "as with the feature `tls`")]
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, ConfigError> {
        Client::open(info).map_err(|_| ConfigError::RedisUrl)
    }
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use super::Tls;
    use crate::error::ConfigError;

    #[test]
    fn roots_are_certificates() {
        for pem in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n"] {
            let tls = Tls { roots: Some(pem.into()), identity: None };
            let info = redis::IntoConnectionInfo::into_connection_info("rediss://host").unwrap();
            assert_eq!(tls.client(info).err(), Some(ConfigError::Certificates), "{pem:?}");
        }
    }
}
