//! The functions of the key language: each wraps a value in a [`KeyPart`] that writes something
//! else. Called by expansions only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::part::{KeyPart, KeyWriter, MaybeKeyPart, Optional};
use super::shorten::hex128;
pub use crate::context::{Device, Header, Ip, Method, Path, Tenant, User};

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

/// `hash(a)`: HMAC-SHA256 with the limiter's secret, cut to 128 bits, in hex.
#[inline]
pub fn hash<T: ?Sized>(value: &T) -> Hashed<'_, T> {
    Hashed(value)
}

/// `prefix(a, bits)`: the network of an IPv4 address, and the /64 of an IPv6 address.
#[inline]
pub fn prefix<T: ?Sized>(value: &T, bits: u8) -> Prefix<'_, T> {
    Prefix(value, bits)
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
            key.push_str(text.as_str());
        } else {
            // Not letter by letter: the Greek sigma looks at its neighbours.
            key.push_str(&text.as_str().to_lowercase());
        }
    }
}

/// See [`trim`].
pub struct Trim<'v, T: ?Sized>(&'v T);

impl<T: KeyPart + ?Sized> KeyPart for Trim<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        key.push_str(text.as_str().trim());
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
            hmac.update(text.as_str().as_bytes());
            key.push_str(&hex128(&hmac.finalize().into_bytes()));
        }
    }
}

/// See [`prefix`].
pub struct Prefix<'v, T: ?Sized>(&'v T, u8);

impl<T: KeyPart + ?Sized> KeyPart for Prefix<'_, T> {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        let text = key.collect(self.0);
        // `::ffff:192.0.2.1` is the IPv4 address that a socket for both kinds reports.
        match text.as_str().parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => {
                network_v4(address, self.1).append_to(key);
                key.push_str("/");
                self.1.append_to(key);
            }
            Ok(IpAddr::V6(address)) => {
                network_v6(address, V6_BITS).append_to(key);
                key.push_str("/64");
            }
            Err(_) => key.push_str(text.as_str()),
        }
    }
}

fn network_v4(address: Ipv4Addr, bits: u8) -> Ipv4Addr {
    let host = 32_u32.saturating_sub(u32::from(bits));
    let mask = u32::MAX.checked_shl(host).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

/// One customer of a provider has at least a /64 to take addresses from.
pub(crate) const V6_BITS: u8 = 64;

pub(crate) fn network_v6(address: Ipv6Addr, bits: u8) -> Ipv6Addr {
    let host = 128_u32.saturating_sub(u32::from(bits));
    let mask = u128::MAX.checked_shl(host).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & mask)
}
