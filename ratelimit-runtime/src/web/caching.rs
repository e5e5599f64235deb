//! Who may keep a response, as far as it says so itself.

use http::HeaderName;

/// `Cache-Control`, among the header fields that a layer writes.
pub(super) static CACHE_CONTROL: HeaderName = http::header::CACHE_CONTROL;

/// For this client alone, and for no second time.
pub(super) const NO_STORE: &str = "no-store";

/// What a response says of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Nothing.
    Unsaid,
    /// Something, and not that all clients may share it.
    Said,
    /// That a cache may keep it for all clients.
    Shared,
}

impl Caching {
    /// By the values of `Cache-Control`.
    pub(crate) fn of<'h>(values: impl Iterator<Item = &'h [u8]>) -> Self {
        let mut caching = Self::Unsaid;
        for directive in values.flat_map(|value| value.split(|byte| *byte == b',')) {
            let name = directive.split(|byte| *byte == b'=').next().unwrap_or_default();
            let is = |known: &str| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes());
            if is("public") || is("s-maxage") {
                return Self::Shared;
            }
            caching = Self::Said;
        }
        caching
    }
}
