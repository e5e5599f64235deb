//! Whose budget it is within a rule: [`LimitKey`], and how one is built from values.
//!
//! A key is text that people can read in `redis-cli`, and from which no two different lists of
//! values are ever made. For one shape (one chain of [`KeyBuilder`] calls, one key expression):
//!
//! - Text that the program's source contains is kept. Only `{`, `}`, `%`, blanks and invisible
//!   characters are written as `%XX`.
//! - A value is written the same way, and its `:` too. So a value never contains a `:`.
//! - What follows a value begins with `:`; one is put in where the source has none. So a reader
//!   knows where each value ends, and nobody can choose a value that reaches into the next.
//! - A key of more than 200 bytes keeps its head and ends in `%~` and 128 bits of the SHA-256 of
//!   all of it. Neither text nor a value produces `%~`, so no short key equals a shortened one.

mod builder;
mod escape;
mod fold;
pub(crate) mod functions;
mod mark;
mod part;
mod shorten;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

pub use builder::KeyBuilder;
pub use part::{KeyPart, KeyWriter, MaybeKeyPart};
use text::Text;

/// Whose budget it is within a rule: a finished key.
///
/// Built by the attribute from its key expression, by a [`KeyBuilder`], or from a single value:
///
/// ```
/// # use ratelimit_runtime::{LimitKey, KeyBuilder};
/// let phone = "13800000000";
/// let key = KeyBuilder::new().text("sms:").value(phone).finish();
/// assert_eq!(key.as_str(), "sms:13800000000");
///
/// assert_eq!(LimitKey::from(phone).as_str(), "13800000000");
/// assert_eq!(LimitKey::from(42).as_str(), "42");
/// assert_eq!(LimitKey::from_parts(["a:b", "c"]).as_str(), "a%3Ab:c");
/// ```
///
/// At most 200 bytes; longer ones are [shortened](KeyBuilder::finish). `Debug` shows the length
/// only: keys name people, and logs are no place for them.
#[derive(Clone)]
pub struct LimitKey {
    text: Text,
    flaws: Flaws,
}

/// What a key says of a request, and has not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The request itself, or its path or method.
    Context,
    /// The client's address.
    ClientIp,
    /// Whether some route matches, and which.
    Route,
}

/// What keeps a key from being decided.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Flaws {
    empty: bool,
    needs_secret: bool,
    missing: Option<Missing>,
}

impl Flaws {
    const NONE: Self = Self { empty: false, needs_secret: false, missing: None };
}

impl LimitKey {
    /// The key of a rule that has one budget for everybody.
    pub fn whole_rule() -> Self {
        Self { text: Text::new(), flaws: Flaws::NONE }
    }

    /// A key of several values, in their order.
    ///
    /// Two different lists never give one key, unless they are too long to be kept and the first
    /// 128 bits of their SHA-256 agree. For values of different types, use [`KeyBuilder`].
    pub fn from_parts<T: KeyPart>(parts: impl IntoIterator<Item = T>) -> Self {
        let mut key = KeyBuilder::new();
        for part in parts {
            key.value(&part);
        }
        key.finish()
    }

    /// The escaped text. It contains no blank, no control character and neither `{` nor `}`.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// 128 bits of a hash in place of text that is too long.
    pub(crate) fn digest(text: &str) -> arrayvec::ArrayString<32> {
        use sha2::Digest;
        shorten::hex128(&sha2::Sha256::digest(text))
    }

    /// Whether a value of the key was the empty text and had no default, or the key has nothing
    /// in it. A limiter does not decide such a key: it reports
    /// [`InvalidCall::EmptyKey`](crate::InvalidCall::EmptyKey), because all callers without a name would
    /// share one budget by accident.
    #[inline]
    pub fn has_empty_value(&self) -> bool {
        self.flaws.empty
    }

    /// Whether the key contains a `hash(..)` that could not be computed because the limiter has
    /// no secret. A limiter does not decide such a key either.
    #[inline]
    pub fn needs_secret(&self) -> bool {
        self.flaws.needs_secret
    }

    /// Whether the key contains something of a request, like `@ip`, and there was no
    /// [`RequestContext`](crate::RequestContext), or none that has it. A limiter does not decide such a key
    /// either.
    #[inline]
    pub fn needs_context(&self) -> bool {
        self.flaws.missing.is_some()
    }

    /// What of a request was not there.
    #[inline]
    pub(crate) fn missing(&self) -> Option<Missing> {
        self.flaws.missing
    }
}

/// A key of one value.
impl<T: KeyPart> From<T> for LimitKey {
    fn from(value: T) -> Self {
        KeyBuilder::new().value(&value).finish()
    }
}

impl From<&LimitKey> for LimitKey {
    fn from(key: &LimitKey) -> Self {
        key.clone()
    }
}

impl PartialEq for LimitKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() && self.flaws == other.flaws
    }
}

impl Eq for LimitKey {}

impl std::hash::Hash for LimitKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// The length only: a key holds what callers sent.
impl fmt::Debug for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LimitKey({} bytes)", self.as_str().len())
    }
}
