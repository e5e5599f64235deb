//! What can be wrong with how to reach Redis. Nothing here repeats a part of a URL or of a file.

/// Which part of a Redis URL is wrong. Neither the URL nor a part of it is shown: it may hold a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUrl {
    /// It does not begin as it should.
    #[error(
        "it must begin with redis://, rediss://, unix://, redis+sentinel://, rediss+sentinel://, \
         redis+cluster:// or rediss+cluster://"
    )]
    Scheme,
    /// A character of a user, a password or a path has another meaning in a URL.
    #[error("a `{mark}` in a user, password or path is written %{:02X}", u32::from(*mark))]
    Unescaped {
        /// The character.
        mark: char,
    },
    /// The user or the password is not valid Unicode when it is decoded.
    #[error("the user or the password is not Unicode when `%` and what follows it is decoded")]
    Login,
    /// A host is missing, or is neither a name nor an address.
    #[error(
        "{} is missing, or neither a name nor an address (IPv6 in brackets: [::1])",
        host(*number, *of)
    )]
    Host {
        /// Which host of a list, from 1.
        number: usize,
        /// How many the list has.
        of: usize,
    },
    /// A port is not a number, or not one of a port.
    #[error("the port of {} is not a number from 1 to 65535", host(*number, *of))]
    Port {
        /// Which host of a list, from 1.
        number: usize,
        /// How many the list has.
        of: usize,
    },
    /// Several hosts, and a scheme for one.
    #[error("several hosts need redis+sentinel:// or redis+cluster://")]
    SeveralHosts,
    /// What follows the hosts is not the name of a primary.
    #[error(
        "the name of the primary, as the Sentinels know it, must follow the hosts: \
         redis+sentinel://host,host/name, of letters, digits, `-`, `_` and `.`"
    )]
    Primary,
    /// The database is not a number, or one that no server has.
    #[error("the database, after the host and a `/`, is not a number from 0 to 2147483647")]
    Database,
    /// A Cluster has one database.
    #[error("a Cluster has only database 0")]
    ClusterDatabase,
    /// The version of the protocol.
    #[error("`protocol` must be `resp2` or `resp3`")]
    Protocol,
}

/// What to call one host of a list.
fn host(number: usize, of: usize) -> String {
    if of == 1 { "the host".to_owned() } else { format!("host {number} of {of}") }
}

/// What is wrong with a file that holds a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPasswordFile {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// It is not valid Unicode.
    #[error("is not Unicode")]
    NotUnicode,
}

/// What is wrong with certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCertificates {
    /// The file with the root certificates cannot be read.
    #[error("the file with the root certificates cannot be read: {0}")]
    NoRootsFile(std::io::ErrorKind),
    /// The root certificates are no certificates in PEM.
    #[error("the root certificates are not PEM, or have no certificate in them")]
    Roots,
    /// The file with the client's certificate or key cannot be read.
    #[error("the file with the client's certificate or its key cannot be read: {0}")]
    NoIdentityFile(std::io::ErrorKind),
    /// The client's certificate is no certificate in PEM.
    #[error("the client's certificate is not PEM, or has no certificate in it")]
    Certificate,
    /// The client's key is no private key in PEM.
    #[error("the client's key is not PEM, or has no private key in it")]
    Key,
    /// What the process has chosen for its cryptography knows no version of TLS.
    #[error("the process' choice of cryptography knows neither TLS 1.2 nor 1.3")]
    NoVersion,
    /// The client's key belongs to another certificate.
    #[error("the client's key does not fit its certificate")]
    KeyDoesNotFit,
}
