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
    /// That no cache may keep it for other clients, or not without asking again.
    Said,
    /// Something else: a cache may keep it for all clients.
    Shared,
}

impl Caching {
    /// By the values of `Cache-Control`.
    ///
    /// What is fresh for a time may be shared, `public` or not (RFC 9111, section 3).
    pub(crate) fn of<'h>(values: impl Iterator<Item = &'h [u8]>) -> Self {
        let mut caching = Self::Unsaid;
        for value in values {
            let mut quoted = false;
            let directives = value.split(|byte| {
                quoted ^= *byte == b'"';
                *byte == b',' && !quoted
            });
            for directive in directives {
                // With a value, `private` and `no-cache` are about the fields that it names.
                let is =
                    |known: &str| directive.trim_ascii().eq_ignore_ascii_case(known.as_bytes());
                let name = directive.split(|byte| *byte == b'=').next().unwrap_or_default();
                let shares = |known: &str| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes());
                if shares("public") || shares("s-maxage") {
                    return Self::Shared;
                }
                if is("private") || is("no-store") || is("no-cache") {
                    caching = Self::Said;
                } else if caching == Self::Unsaid && !directive.trim_ascii().is_empty() {
                    caching = Self::Shared;
                }
            }
        }
        caching
    }

    /// With `Expires`, which is `max-age` where there is no `Cache-Control`.
    pub(crate) fn or_expires(self, expires: bool) -> Self {
        if self == Self::Unsaid && expires { Self::Shared } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_keep_a_response() {
        let of = |values: &[&str]| Caching::of(values.iter().map(|value| value.as_bytes()));
        assert_eq!(of(&[]), Caching::Unsaid);
        assert_eq!(of(&["", " , "]), Caching::Unsaid);
        for said in [
            "private",
            "no-store",
            "No-Cache",
            "max-age=0, no-store",
            "private,max-age=600",
            "max-age=600, must-revalidate, private ",
        ] {
            assert_eq!(of(&[said]), Caching::Said, "{said}");
        }
        for shared in [
            "public",
            "s-maxage=5",
            "max-age=600",
            "max-age=600, must-revalidate",
            "immutable, max-age=31536000",
            "must-revalidate, max-age=9",
            "max-age=1,S-MaxAge=60",
            "public, no-cache",
            // Those fields only.
            "no-cache=\"set-cookie\", max-age=9",
            "private=\"set-cookie\"",
            "max-age=9, no-cache=\"a, private, b\"",
        ] {
            assert_eq!(of(&[shared]), Caching::Shared, "{shared}");
        }
        assert_eq!(of(&["max-age=9", "private"]), Caching::Said);
        assert_eq!(of(&["private", "max-age=9"]), Caching::Said);
        assert_eq!(of(&[]).or_expires(true), Caching::Shared);
        assert_eq!(of(&[]).or_expires(false), Caching::Unsaid);
        assert_eq!(of(&["private"]).or_expires(true), Caching::Said);
    }
}
