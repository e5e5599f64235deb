//! Certificates and keys in PEM.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Text, or a file that is read again for every connection.
#[derive(Clone)]
pub(crate) enum Pem {
    Given(Arc<[u8]>),
    File(Arc<Path>),
}

impl Pem {
    /// The text.
    pub(super) fn read(&self) -> io::Result<Arc<[u8]>> {
        match self {
            Self::Given(text) => Ok(text.clone()),
            Self::File(file) => fs::read(file).map(Into::into),
        }
    }

    pub(super) const fn can_change(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key is a secret.
        match self {
            Self::Given(text) => write!(f, "Given({} bytes)", text.len()),
            Self::File(file) => write!(f, "File({})", file.display()),
        }
    }
}
