//! The functions of the key language: each wraps a value in a [`KeyPart`] that writes something
//! else. Called by expansions only.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::fold;
use super::mark::{self, Piece};
use super::part::{KeyPart, KeyWriter, MaybeKeyPart, Optional};
use super::shorten::hex128;
use super::text::Text;
use crate::address;

/// `a?.b`: what is in the `Option`.
#[inline]
pub fn optional<T: Optional + ?Sized>(value: &T) -> Option<&T::Inner> {
    value.as_option()
}

// No bounds on the rest: where a wrapper is used as a `KeyPart`, the compiler says what is wrong
// with the value in it, and says it once.

/// `a ?: b`: the value, or the default when the value is `None` or the empty text.
#[inline]
pub fn first<'v, T: ?Sized, D: ?Sized>(value: &'v T, default: &'v D) -> First<'v, T, D> {
    First { value, default }
}

/// `f(a) ?: b`, for the `a`: nothing when it is `None`. The function makes nothing of that, and the
/// default takes its place.
#[inline]
pub fn or_nothing<T: ?Sized>(value: &T) -> OrNothing<'_, T> {
    OrNothing(value)
}

/// `lower(a)`: in lower case.
#[inline]
pub fn lower<T: ?Sized>(value: &T) -> Lower<'_, T> {
    Lower(value)
}

/// `trim(a)`: without the blanks before and after.
#[inline]
pub fn trim<T: ?Sized>(value: &T) -> Trim<'_, T> {
    Trim(value)
}

/// `digits(a)`: only its decimal digits, as those of ASCII.
#[inline]
pub fn digits<T: ?Sized>(value: &T) -> Digits<'_, T> {
    Digits(value)
}

/// `fold(a)`: one form of what people write in many ways.
#[inline]
pub fn fold<T: ?Sized>(value: &T) -> Fold<'_, T> {
    Fold(value)
}

/// `hash(a)`: HMAC-SHA256 with the limiter's secret, cut to 128 bits, in hex.
#[inline]
pub fn hash<T: ?Sized>(value: &T) -> Hashed<'_, T> {
    Hashed(value)
}

/// `prefix(a, v4_bits, v6_bits)`: the network of an address, of which so many bits count.
#[inline]
pub fn prefix<T: ?Sized>(value: &T, v4_bits: u8, v6_bits: u8) -> Prefix<'_, T> {
    Prefix { value, v4_bits, v6_bits }
}

/// See [`first`].
pub struct First<'v, T: ?Sized, D: ?Sized> {
    value: &'v T,
    default: &'v D,
}

impl<T: MaybeKeyPart + ?Sized, D: KeyPart + ?Sized> KeyPart for First<'_, T, D> {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let wrote = self.value.key_part().is_some_and(|value| key.try_append(value));
        if !wrote {
            self.default.append_to(key);
        }
    }
}

/// See [`or_nothing`].
pub struct OrNothing<'v, T: ?Sized>(&'v T);

impl<T: MaybeKeyPart + ?Sized> KeyPart for OrNothing<'_, T> {
    #[inline]
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        if let Some(value) = self.0.key_part() {
            value.append_to(key);
        }
    }
}

/// See [`lower`].
pub struct Lower<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Lower<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let mut text = key.collect(self.0);
        if text.as_str().is_ascii() {
            text.as_mut_str().make_ascii_lowercase();
            key.push_marked(text.as_str());
        } else {
            // Not letter by letter: the Greek sigma looks at its neighbours.
            key.push_marked(&text.as_str().to_lowercase());
        }
    }
}

/// See [`trim`].
pub struct Trim<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Trim<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        key.push_marked(text.as_str().trim());
    }
}

/// See [`digits`].
pub struct Digits<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Digits<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        let mut digits = Text::new();
        fold::digits(text.as_str()).for_each(|c| digits.push_str(c.encode_utf8(&mut [0; 4])));
        key.push_str(digits.as_str());
    }
}

/// See `fold`.
pub struct Fold<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Fold<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        if text.as_str().is_ascii() {
            let mut folded = Text::new();
            fold::folded_ascii(text.as_str())
                .for_each(|c| folded.push_str(c.encode_utf8(&mut [0; 4])));
            key.push_str(folded.as_str().trim());
        } else {
            key.push_marked(&fold::folded(text.as_str()));
        }
    }
}

/// See [`hash`].
pub struct Hashed<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Hashed<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        // Any secret has a length that HMAC takes.
        let hmac = key.secret().and_then(|secret| Hmac::<Sha256>::new_from_slice(secret).ok());
        let Some(mut hmac) = hmac else { return key.miss_secret() };
        if text.len() > 0 {
            mark::pieces(text.as_str(), |piece| match piece {
                Piece::Text(text) => hmac.update(text.as_bytes()),
                Piece::Byte(byte) => hmac.update(&[byte]),
            });
            key.push_str(&hex128(&hmac.finalize().into_bytes()));
        }
    }
}

/// See [`prefix`].
pub struct Prefix<'v, T: ?Sized> {
    value: &'v T,
    v4_bits: u8,
    v6_bits: u8,
}

impl<T: KeyPart + ?Sized> KeyPart for Prefix<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect_whole(self.value);
        let bits = match address::parse(text.as_str().as_bytes()).map(address::canonical) {
            Some(IpAddr::V4(address)) => {
                address::network_v4(address, self.v4_bits).append_to(key);
                self.v4_bits.min(32)
            }
            Some(IpAddr::V6(address)) => {
                address::network_v6(address, self.v6_bits).append_to(key);
                self.v6_bits.min(128)
            }
            None => return key.push_marked(text.as_str()),
        };
        key.push_str("/");
        bits.append_to(key);
    }
}
