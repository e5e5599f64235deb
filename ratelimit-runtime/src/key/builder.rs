//! [`KeyBuilder`]: literal text and values, one after the other, to a [`LimitKey`].

use std::mem;

use super::escape::Kind;
use super::functions;
use super::part::{KeyPart, KeyWriter, MaybeKeyPart};
use super::shorten::Bounded;
use super::{Flaws, LimitKey};

/// Builds a [`LimitKey`] from literal text and values.
///
/// ```
/// # use ratelimit_runtime::KeyBuilder;
/// let (tenant, user) = ("acme", 7);
/// let key = KeyBuilder::new().text("login:").value(tenant).value(&user).finish();
/// assert_eq!(key.as_str(), "login:acme:7");
///
/// // Nobody can choose a value that reaches into the next.
/// let mut key = KeyBuilder::new();
/// key.text("login:").value("acme:7").value("{x}");
/// assert_eq!(key.finish().as_str(), "login:acme%3A7:%7Bx%7D");
/// ```
pub struct KeyBuilder<'s> {
    text: Bounded,
    secret: Option<&'s [u8]>,
    /// The text ends in a value: what follows must begin with `:`.
    after_value: bool,
    flaws: Flaws,
}

impl Default for KeyBuilder<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'s> KeyBuilder<'s> {
    /// Nothing yet.
    #[inline]
    pub const fn new() -> Self {
        Self::with_secret(None)
    }

    /// Nothing yet; `hash(..)` in a key expression uses this secret.
    #[inline]
    pub const fn with_secret(secret: Option<&'s [u8]>) -> Self {
        Self { text: Bounded::new(), secret, after_value: false, flaws: Flaws::NONE }
    }

    /// Appends text of the program itself: its `:` are kept. It is `'static` because anything that
    /// comes from outside has to be a [`value`](Self::value).
    #[inline]
    pub fn text(&mut self, text: &'static str) -> &mut Self {
        if !text.is_empty() {
            if self.after_value && !text.starts_with(':') {
                self.separate();
            }
            self.text.push(text, Kind::Literal);
            self.after_value = false;
        }
        self
    }

    /// Appends a value. When the text ends in a value, a `:` is put between the two.
    #[inline]
    pub fn value<T: KeyPart + ?Sized>(&mut self, value: &T) -> &mut Self {
        self.separate();
        let mut writer = KeyWriter::of_key(&mut self.text, self.secret);
        value.append_to(&mut writer);
        let outcome = writer.outcome();
        self.flaws.empty |= !outcome.wrote;
        self.flaws.needs_secret |= outcome.secret_missing;
        self.flaws.missing = self.flaws.missing.or(outcome.missing);
        self.after_value = true;
        self
    }

    /// Appends a value that may be `None` or the empty text: then the default.
    ///
    /// ```
    /// # use ratelimit_runtime::KeyBuilder;
    /// let user: Option<&str> = None;
    /// let key = KeyBuilder::new().text("user:").value_or(&user, "anonymous").finish();
    /// assert_eq!(key.as_str(), "user:anonymous");
    /// ```
    ///
    /// A user who is called `anonymous` gets this key too. Where that matters, choose a default
    /// that is no possible name.
    #[inline]
    pub fn value_or<T, D>(&mut self, value: &T, default: &D) -> &mut Self
    where
        T: MaybeKeyPart + ?Sized,
        D: KeyPart + ?Sized,
    {
        self.value(&functions::first(value, default))
    }

    /// Ends an entry of a list: what follows begins after a `:`.
    #[inline]
    pub fn part(&mut self) -> &mut Self {
        self.after_value = false;
        self.text.push_escaped(":");
        self
    }

    /// The finished key; the builder is as new again.
    ///
    /// A key of more than 200 bytes keeps its head and ends in `%~` and the first 128 bits of the
    /// SHA-256 of the whole text, in hex. However long the values are, no more than that is kept.
    #[inline]
    #[must_use]
    pub fn finish(&mut self) -> LimitKey {
        let Self { text, mut flaws, .. } = mem::replace(self, Self::with_secret(self.secret));
        flaws.empty |= text.is_empty();
        LimitKey { flaws, text: text.finish() }
    }

    #[inline]
    fn separate(&mut self) {
        if self.after_value {
            self.text.push_escaped(":");
        }
    }
}
