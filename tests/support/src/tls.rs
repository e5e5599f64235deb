//! Certificates that a test makes for itself.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use crate::scratch::Scratch;
use crate::unique::unique;

/// An authority of its own, a certificate of a server and one of a client, both signed by it.
///
/// ```no_run
/// # use test_support::{Flavor, Server, Tls};
/// let tls = Tls::new();
/// let server = Server::builder(Flavor::Installed).tls(&tls).start();
/// // A client that trusts `tls.ca_pem()` gets through to `server.tls_url()`; it needs no
/// // certificate of its own, unless the server insists:
/// let strict = Server::builder(Flavor::Installed).tls(&tls).option("tls-auth-clients", "yes");
/// ```
#[derive(Clone, Debug)]
pub struct Tls(Arc<Files>);

#[derive(Debug)]
struct Files {
    scratch: Scratch,
    ca: String,
    client: String,
    client_key: String,
}

impl Tls {
    /// For the names of this machine: `localhost` and `127.0.0.1`.
    pub fn new() -> Self {
        Self::naming(&["localhost", "127.0.0.1"])
    }

    /// For a server of these names.
    pub fn naming(names: &[&str]) -> Self {
        let ca = authority();
        let (server, server_key) = signed(&ca, names, ExtendedKeyUsagePurpose::ServerAuth);
        let (client, client_key) = signed(&ca, &[], ExtendedKeyUsagePurpose::ClientAuth);
        let files = Files { scratch: Scratch::new(), ca: ca.pem(), client, client_key };
        for (name, pem) in [(CA, &files.ca), (SERVER, &server), (SERVER_KEY, &server_key)] {
            fs::write(files.scratch.path().join(name), pem).unwrap();
        }
        Self(Arc::new(files))
    }

    /// The certificate of the authority, which a client must trust.
    pub fn ca_pem(&self) -> &str {
        &self.0.ca
    }

    /// The certificate of the authority, as a file that lasts as long as this.
    pub fn ca_file(&self) -> PathBuf {
        self.path(CA)
    }

    /// A certificate for a client.
    pub fn client_pem(&self) -> &str {
        &self.0.client
    }

    /// The key of the client's certificate.
    pub fn client_key_pem(&self) -> &str {
        &self.0.client_key
    }

    /// What a server is told.
    pub(crate) fn options(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("tls-ca-cert-file", self.path(CA)),
            ("tls-cert-file", self.path(SERVER)),
            ("tls-key-file", self.path(SERVER_KEY)),
        ]
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.scratch.path().join(name)
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::new()
    }
}

const CA: &str = "ca.pem";
const SERVER: &str = "server.pem";
const SERVER_KEY: &str = "server-key.pem";

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    // Two of one name would be taken for each other, until signatures do not fit.
    let mut params = named(&[], &unique("the authority of a test"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate and its key.
fn signed(
    ca: &CertifiedIssuer<'_, KeyPair>,
    names: &[&str],
    usage: ExtendedKeyUsagePurpose,
) -> (String, String) {
    let mut params = named(names, "signed by a test");
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, ca).unwrap().pem(), key.serialize_pem())
}

fn named(names: &[&str], title: &str) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, title);
    params
}
