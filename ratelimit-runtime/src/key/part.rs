//! [`KeyPart`]: what can be a value in a key.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::rc::Rc;
use std::sync::Arc;

use super::Missing;
use super::escape::Kind;
use super::mark::{self, Piece};
use super::shorten::Bounded;
use super::text::Text;
use crate::address;

/// A value that can be part of a key: text, characters, whole numbers, booleans, addresses, and
/// references and pointers to those. Of a
/// socket address the IP address counts.
///
/// Own types say in one line what names them:
///
/// ```
/// # extern crate ratelimit_runtime as ratelimit_kit;
/// use ratelimit_kit::{KeyBuilder, KeyPart, KeyWriter};
///
/// struct UserId(u64);
///
/// impl KeyPart for UserId {
///     fn append_to(&self, key: &mut KeyWriter<'_>) {
///         self.0.append_to(key);
///     }
/// }
///
/// let key = KeyBuilder::new().text("user:").value(&UserId(7)).finish();
/// assert_eq!(key.as_str(), "user:7");
/// ```
///
/// All that one implementation writes is one value: a `:` in it is escaped. So a type of two
/// values must not just write one after the other, or two of them may give one key.
///
/// No floats: two that print alike differ, and rounding would decide whose budget it is. No
/// `Option`: it needs a default, see [`KeyBuilder::value_or`](crate::KeyBuilder::value_or).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of a rate limit key",
    label = "not text, a whole number, `bool`, `char` or an address",
    note = "an `Option` needs a default, as in `x ?: 'anonymous'`; in a key in Rust, `x.unwrap_or(..)`",
    note = "of a struct, name a field that can be one, as in `x.id`; a type of your own can implement `KeyPart`",
    note = "of an enum, a list or a foreign type, make text of it: `key = x.to_string()`, in Rust, without quotes",
    note = "a `Uuid` needs the feature `uuid` of `ratelimit-kit`"
)]
pub trait KeyPart {
    /// Writes the value's text. Equal values write the same, different values something different.
    fn append_to(&self, key: &mut KeyWriter<'_>);
}

/// Takes the text of a [`KeyPart`].
pub struct KeyWriter<'k> {
    out: Out<'k>,
    secret: Option<&'k [u8]>,
    wrote: bool,
    secret_missing: bool,
    missing: Option<Missing>,
}

/// How writing a value went.
pub(super) struct Outcome {
    pub(super) wrote: bool,
    pub(super) secret_missing: bool,
    pub(super) missing: Option<Missing>,
}

enum Out<'k> {
    /// The key itself.
    Key(&'k mut Bounded),
    /// As it is, for a function of the key language; see [`mark`] for what is no text.
    Plain(&'k mut Text, Addresses),
}

/// How many bits of the client's address are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addresses {
    /// Those that stand for one client.
    OfClients,
    /// All, for a function that takes a network of it.
    Whole,
}

impl<'k> KeyWriter<'k> {
    #[inline]
    pub(super) fn of_key(key: &'k mut Bounded, secret: Option<&'k [u8]>) -> Self {
        Self { out: Out::Key(key), secret, wrote: false, secret_missing: false, missing: None }
    }

    /// Appends text, escaped as needed.
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.wrote |= !text.is_empty();
        match &mut self.out {
            Out::Key(key) => key.push(text, Kind::Value),
            Out::Plain(plain, _) => mark::push_text(plain, text),
        }
    }

    /// Appends what the value displays as. Slower than the others, and needs no allocation either.
    pub fn push_display(&mut self, value: impl fmt::Display) {
        // Only a `Display` that fails by itself ends early.
        let _ = write!(Displayed(self), "{value}");
    }

    /// Appends text without a character that has to be escaped.
    #[inline]
    fn push_plain(&mut self, text: &str) {
        self.wrote = true;
        match &mut self.out {
            Out::Key(key) => key.push_escaped(text),
            Out::Plain(plain, _) => plain.push_str(text),
        }
    }

    /// Appends what a function has made of a value's text, with its marks.
    pub(super) fn push_marked(&mut self, marked: &str) {
        self.wrote |= !marked.is_empty();
        match &mut self.out {
            Out::Key(key) if marked.contains('\0') => mark::pieces(marked, |piece| match piece {
                Piece::Text(text) => key.push(text, Kind::Value),
                Piece::Byte(byte) => key.push_escaped(&percent(byte)),
            }),
            Out::Key(key) => key.push(marked, Kind::Value),
            Out::Plain(plain, _) => plain.push_str(marked),
        }
    }

    /// Appends the value; whether it wrote anything, or could not for want of a secret or of a
    /// request's context.
    #[inline]
    pub(super) fn try_append<T: KeyPart + ?Sized>(&mut self, value: &T) -> bool {
        let before = std::mem::take(&mut self.wrote);
        value.append_to(self);
        let wrote = self.wrote;
        self.wrote |= before;
        wrote || self.secret_missing || self.missing.is_some()
    }

    /// The value's text as it is, for a function of the key language.
    pub(super) fn collect<T: KeyPart + ?Sized>(&mut self, value: &T) -> Text {
        let addresses =
            if self.takes_whole_addresses() { Addresses::Whole } else { Addresses::OfClients };
        self.collect_with(value, addresses)
    }

    /// The same, with all bits of the client's address.
    pub(super) fn collect_whole<T: KeyPart + ?Sized>(&mut self, value: &T) -> Text {
        self.collect_with(value, Addresses::Whole)
    }

    fn collect_with<T: KeyPart + ?Sized>(&mut self, value: &T, addresses: Addresses) -> Text {
        let mut text = Text::new();
        let mut plain = KeyWriter {
            out: Out::Plain(&mut text, addresses),
            secret: self.secret,
            wrote: false,
            secret_missing: false,
            missing: None,
        };
        value.append_to(&mut plain);
        self.secret_missing |= plain.secret_missing;
        self.missing = self.missing.or(plain.missing);
        text
    }

    /// Whether an address is to be written with all of its bits.
    pub(crate) fn takes_whole_addresses(&self) -> bool {
        matches!(self.out, Out::Plain(_, Addresses::Whole))
    }

    /// The limiter's secret, if it has one.
    pub(super) fn secret(&self) -> Option<&'k [u8]> {
        self.secret.filter(|secret| !secret.is_empty())
    }

    pub(super) fn miss_secret(&mut self) {
        self.secret_missing = true;
    }

    /// The value is a part of a request, of which this is not there.
    pub(crate) fn miss(&mut self, missing: Missing) {
        self.missing.get_or_insert(missing);
    }

    /// Appends bytes: text as it is, and what is no UTF-8 byte by byte.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.push_str(chunk.valid());
            for byte in chunk.invalid() {
                self.wrote = true;
                match &mut self.out {
                    // As what it cannot be in a text, of which a `%` is escaped itself.
                    Out::Key(key) => key.push_escaped(&percent(*byte)),
                    Out::Plain(plain, _) => mark::push_byte(plain, *byte),
                }
            }
        }
    }

    /// Whether anything was written, and what was missing.
    #[inline]
    pub(super) fn outcome(self) -> Outcome {
        let Self { wrote, secret_missing, missing, .. } = self;
        Outcome { wrote, secret_missing, missing }
    }
}

/// No contents: a key holds what callers sent.
impl fmt::Debug for KeyWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWriter").finish_non_exhaustive()
    }
}

/// A byte as it stands in a key when it is no text.
fn percent(byte: u8) -> arrayvec::ArrayString<3> {
    let mut escape = arrayvec::ArrayString::new();
    // There is room.
    let _ = write!(escape, "%{byte:02X}");
    escape
}

/// A writer as the target of `write!`.
struct Displayed<'w, 'k>(&'w mut KeyWriter<'k>);

impl fmt::Write for Displayed<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        Ok(())
    }
}

impl KeyPart for str {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        key.push_str(self);
    }
}

impl KeyPart for String {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        key.push_str(self);
    }
}

impl KeyPart for char {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        key.push_str(self.encode_utf8(&mut [0; 4]));
    }
}

impl KeyPart for bool {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        key.push_plain(if *self { "true" } else { "false" });
    }
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl KeyPart for $integer {
            #[inline]
            fn append_to(&self, key: &mut KeyWriter<'_>) {
                key.push_plain(itoa::Buffer::new().format(*self));
            }
        }
    )*};
}

macro_rules! non_zero_integers {
    ($($integer:ident)*) => {$(
        impl KeyPart for $integer {
            #[inline]
            fn append_to(&self, key: &mut KeyWriter<'_>) {
                self.get().append_to(key);
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
non_zero_integers! {
    NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize
    NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize
}

impl KeyPart for Ipv4Addr {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let mut text = arrayvec::ArrayString::<15>::new();
        for octet in self.octets() {
            // Four times three digits and three dots: there is room.
            let dot = if text.is_empty() { "" } else { "." };
            let _ = text.try_push_str(dot);
            let _ = text.try_push_str(itoa::Buffer::new().format(octet));
        }
        key.push_plain(&text);
    }
}

/// One that carries an IPv4 address is that address: the same client must not be two.
impl KeyPart for Ipv6Addr {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        match address::canonical((*self).into()) {
            IpAddr::V4(address) => address.append_to(key),
            IpAddr::V6(address) => key.push_display(address),
        }
    }
}

impl KeyPart for IpAddr {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        match self {
            Self::V4(address) => address.append_to(key),
            Self::V6(address) => address.append_to(key),
        }
    }
}

/// Only the address: the port changes with every connection.
impl KeyPart for SocketAddr {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        self.ip().append_to(key);
    }
}

#[cfg(feature = "uuid")]
impl KeyPart for uuid::Uuid {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        key.push_plain(self.hyphenated().encode_lower(&mut [0; uuid::fmt::Hyphenated::LENGTH]));
    }
}

impl<T: KeyPart + ToOwned + ?Sized> KeyPart for Cow<'_, T> {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        T::append_to(self, key);
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: KeyPart + ?Sized> KeyPart for $pointer {
            #[inline]
            fn append_to(&self, key: &mut KeyWriter<'_>) {
                T::append_to(self, key);
            }
        }
    )*};
}

pointers! { &T, &mut T, Box<T>, Rc<T>, Arc<T> }

/// A [`KeyPart`], or an `Option` of one: what may stand before `?:`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand before `?:` in a rate limit key",
    label = "neither a `KeyPart` nor an `Option` of one",
    note = "of a struct, name a field that is one, as in `x.id`; a type of your own can implement `KeyPart`",
    note = "of an enum, a list or a foreign type, make text of it in a key in Rust, without quotes"
)]
pub trait MaybeKeyPart {
    /// What it holds.
    type Part: KeyPart + ?Sized;

    /// What it holds, if it does.
    fn key_part(&self) -> Option<&Self::Part>;
}

#[diagnostic::do_not_recommend]
impl<T: KeyPart + ?Sized> MaybeKeyPart for T {
    type Part = T;

    #[inline]
    fn key_part(&self) -> Option<&T> {
        Some(self)
    }
}

impl<T: MaybeKeyPart> MaybeKeyPart for Option<T> {
    type Part = T::Part;

    #[inline]
    fn key_part(&self) -> Option<&T::Part> {
        self.as_ref()?.key_part()
    }
}

impl<T: MaybeKeyPart> MaybeKeyPart for &Option<T> {
    type Part = T::Part;

    #[inline]
    fn key_part(&self) -> Option<&T::Part> {
        self.as_ref()?.key_part()
    }
}

impl<T: MaybeKeyPart> MaybeKeyPart for &mut Option<T> {
    type Part = T::Part;

    #[inline]
    fn key_part(&self) -> Option<&T::Part> {
        self.as_ref()?.key_part()
    }
}

/// An `Option`: what may stand before `?.`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`?.` in a rate limit key needs an `Option`",
    label = "`{Self}` is no `Option`",
    note = "write `.` instead of `?.` behind what is always there",
    note = "of a `Result`, take `x.ok()` in a key in Rust, without quotes"
)]
pub trait Optional {
    /// What is in it.
    type Inner;

    /// What is in it, by reference.
    fn as_option(&self) -> Option<&Self::Inner>;
}

impl<T> Optional for Option<T> {
    type Inner = T;

    #[inline]
    fn as_option(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl<T: Optional + ?Sized> Optional for &T {
    type Inner = T::Inner;

    #[inline]
    fn as_option(&self) -> Option<&T::Inner> {
        T::as_option(self)
    }
}

impl<T: Optional + ?Sized> Optional for &mut T {
    type Inner = T::Inner;

    #[inline]
    fn as_option(&self) -> Option<&T::Inner> {
        T::as_option(self)
    }
}
