//! The handshake, and what it needs.

use std::io;
use std::sync::Arc;

use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::SockRef;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::pem::Pem;
use super::settings::Tls;
use crate::error::{ConfigError, InvalidCertificates};

/// What a connection needs, and what it was made of.
#[derive(Clone)]
pub(in super::super) struct Config {
    pub(in super::super) client: Arc<ClientConfig>,
    /// The roots, the certificate and the key.
    pub(in super::super) made_of: [Option<Arc<[u8]>>; 3],
}

impl Tls {
    /// Reads the certificates. May block, for files and for those of the system.
    pub(in super::super) fn config(&self) -> Result<Config, ConfigError> {
        self.with_roots(system_roots)
    }

    /// Fails if what is configured cannot be used.
    pub(in super::super) fn check(&self) -> Result<(), ConfigError> {
        self.with_roots(RootCertStore::empty).map(|_| ())
    }

    /// Whether the next connection may have other certificates, because they are in files.
    pub(in super::super) fn can_change(&self) -> bool {
        let identity = self.identity.iter().flat_map(|(certificate, key)| [certificate, key]);
        self.roots.iter().chain(identity).any(Pem::can_change)
    }

    fn with_roots(&self, others: impl FnOnce() -> RootCertStore) -> Result<Config, ConfigError> {
        let mut made_of = [None, None, None];
        let roots = match &self.roots {
            None => others(),
            Some(pem) => {
                let pem =
                    pem.read().map_err(|e| wrong(InvalidCertificates::NoRootsFile(e.kind())))?;
                let roots = roots(&pem)?;
                made_of[0] = Some(pem);
                roots
            }
        };
        // Only for this connection: what the process uses is not for a library to decide.
        let own = || Arc::new(rustls::crypto::ring::default_provider());
        let provider = CryptoProvider::get_default().cloned().unwrap_or_else(own);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| wrong(InvalidCertificates::NoVersion))?
            .with_root_certificates(roots);
        let client = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let read = |pem: &Pem| {
                    pem.read().map_err(|e| wrong(InvalidCertificates::NoIdentityFile(e.kind())))
                };
                let (certificate, key) = (read(certificate)?, read(key)?);
                let chain = certificates(&certificate, InvalidCertificates::Certificate)?;
                let private = PrivateKeyDer::from_pem_slice(&key)
                    .map_err(|_| wrong(InvalidCertificates::Key))?;
                made_of[1] = Some(certificate);
                made_of[2] = Some(key);
                builder.with_client_auth_cert(chain, private).map_err(|error| match error {
                    rustls::Error::InconsistentKeys(_) => wrong(InvalidCertificates::KeyDoesNotFit),
                    _ => wrong(InvalidCertificates::Key),
                })?
            }
        };
        Ok(Config { client: Arc::new(client), made_of })
    }
}

impl Config {
    /// A connection to the address of a host that is connected first.
    pub(in super::super) async fn connect(
        &self,
        host: &str,
        port: u16,
        settings: &TcpSettings,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut connecting = JoinSet::new();
        for address in lookup_host((host, port)).await? {
            connecting.spawn(TcpStream::connect(address));
        }
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        while let Some(connected) = connecting.join_next().await {
            match connected {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(settings.nodelay())?;
                    if let Some(keep_alive) = settings.keepalive() {
                        SockRef::from(&stream).set_tcp_keepalive(keep_alive)?;
                    }
                    return TlsConnector::from(self.client.clone()).connect(name, stream).await;
                }
                Ok(Err(error)) => failure = error,
                Err(_) => {}
            }
        }
        Err(failure)
    }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // If some cannot be read, a handshake that needs them fails and says so.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn roots(pem: &[u8]) -> Result<RootCertStore, ConfigError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, InvalidCertificates::Roots)? {
        roots.add(certificate).map_err(|_| wrong(InvalidCertificates::Roots))?;
    }
    Ok(roots)
}

/// At least one.
fn certificates(
    pem: &[u8],
    fault: InvalidCertificates,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.ok().filter(|all| !all.is_empty()).ok_or(wrong(fault))
}

const fn wrong(fault: InvalidCertificates) -> ConfigError {
    ConfigError::Certificates(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pem: &str) -> Pem {
        Pem::Given(pem.as_bytes().into())
    }

    #[test]
    fn roots_are_certificates() {
        for pem in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n"] {
            let tls = Tls { roots: Some(given(pem)), identity: None };
            assert_eq!(tls.check(), Err(wrong(InvalidCertificates::Roots)), "{pem:?}");
        }
        let tls = Tls {
            roots: Some(Pem::File(Arc::from(std::path::Path::new("/nowhere")))),
            identity: None,
        };
        assert_eq!(
            tls.check(),
            Err(wrong(InvalidCertificates::NoRootsFile(io::ErrorKind::NotFound)))
        );
    }

    #[test]
    fn a_client_has_a_certificate_and_a_key() {
        let tls = Tls { roots: None, identity: Some((given("none"), given("none"))) };
        assert_eq!(tls.check(), Err(wrong(InvalidCertificates::Certificate)));
    }
}
