//! What keys say of a request: `@ip`, `@user`, `@header['name']`. Called by expansions only.
//!
//! Each looks at the context when it is written, and copies nothing. Without a context, or without
//! what is always in that of a request, the key says so: there is no budget that all calls without
//! one share.

use std::borrow::Cow;
use std::net::IpAddr;

use super::{Address, CURRENT, Inner};
use crate::address::network_v6;
use crate::key::{KeyPart, KeyWriter, Missing};

/// `@ip`
pub struct Ip;
/// `@path`
pub struct Path;
/// `@route`
pub struct Route;
/// `@method`
pub struct Method;
/// `@user`
pub struct User;
/// `@tenant`
pub struct Tenant;
/// `@device`
pub struct Device;
/// `@header['name']`, with the name in lower case
pub struct Header(pub &'static str);

/// Writes something that the context of a request always has.
fn always<T>(
    key: &mut KeyWriter<'_>,
    what: Missing,
    part: impl FnOnce(&Inner, &mut KeyWriter<'_>) -> Option<T>,
) {
    match CURRENT.try_with(|context| part(&context.inner, key)) {
        Ok(Some(_)) => {}
        Ok(None) => key.miss(what),
        Err(_) => key.miss(Missing::Context),
    }
}

/// Writes something that may not be there.
fn maybe(key: &mut KeyWriter<'_>, part: impl FnOnce(&Inner, &mut KeyWriter<'_>) -> Option<()>) {
    if CURRENT.try_with(|context| part(&context.inner, key)).is_err() {
        key.miss(Missing::Context);
    }
}

impl KeyPart for Ip {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        always(key, Missing::ClientIp, |context, key| {
            let address = context.ip?;
            if key.takes_whole_addresses() {
                address.ip.append_to(key);
            } else {
                address.append_to(key);
            }
            Some(())
        });
    }
}

impl KeyPart for Address {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        match self.ip {
            IpAddr::V6(ip) if self.v6_bits < 128 => {
                network_v6(ip, self.v6_bits).append_to(key);
                key.push_str("/");
                self.v6_bits.append_to(key);
            }
            ip => ip.append_to(key),
        }
    }
}

impl KeyPart for Path {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        always(key, Missing::Context, |context, key| {
            context.head.path().map(|path| push_path(path, key))
        });
    }
}

/// As it is written in the service: it is no client's text.
impl KeyPart for Route {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        always(key, Missing::Route, |context, key| {
            context.head.route().map(|route| key.push_str(route))
        });
    }
}

/// A path as routers read it: `/%61` is `/a`, or a client would have as many budgets for a page as there
/// are ways to write its path.
fn push_path(path: &str, key: &mut KeyWriter<'_>) {
    if path.contains('%') { key.push_bytes(&percent_decoded(path)) } else { key.push_str(path) }
}

/// A path to compare with others, in which a `/` that was escaped is not one.
pub(super) fn decoded_text(path: &str) -> Option<Cow<'_, str>> {
    if !path.contains('%') {
        return Some(Cow::Borrowed(path));
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        let decoded = String::from_utf8(percent_decoded(segment)).ok()?;
        segments.push(decoded.replace('/', "%2F"));
    }
    Some(Cow::Owned(segments.join("/")))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let byte = digit(*high).zip(digit(*low)).map(|(high, low)| (high << 4) | low);
                byte.map(|byte| (byte, tail))
            }
            _ => None,
        };
        let (byte, tail) = escaped.unwrap_or((*first, tail));
        decoded.push(byte);
        rest = tail;
    }
    decoded
}

impl KeyPart for Method {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        always(key, Missing::Context, |context, key| {
            context.head.method().map(|method| key.push_str(method))
        });
    }
}

impl KeyPart for User {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        maybe(key, |context, key| context.user.as_deref().map(|user| key.push_str(user)));
    }
}

impl KeyPart for Tenant {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        maybe(key, |context, key| context.tenant.as_deref().map(|tenant| key.push_str(tenant)));
    }
}

impl KeyPart for Device {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        maybe(key, |context, key| context.device.as_deref().map(|device| key.push_str(device)));
    }
}

impl KeyPart for Header {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        maybe(key, |context, key| context.head.get(self.0).map(|value| key.push_bytes(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::RequestContext;
    use crate::key::functions::{digits, fold, lower, prefix, trim};
    use crate::key::{KeyBuilder, LimitKey};

    fn key(
        part: &(impl KeyPart + ?Sized),
        context: crate::context::RequestContextBuilder,
    ) -> LimitKey {
        context.build().scope_blocking(|| KeyBuilder::new().value(part).finish())
    }

    fn ip(address: &str) -> String {
        let address = address.parse().unwrap();
        key(&Ip, RequestContext::builder().ip(address)).as_str().to_owned()
    }

    #[test]
    fn addresses_of_one_customer_are_one_key() {
        assert_eq!(ip("192.0.2.1"), "192.0.2.1");
        assert_eq!(ip("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(ip("2001:db8:1:2:3:4:5:6"), ip("2001:db8:1:2::1"));
        assert_ne!(ip("2001:db8:1:2::1"), ip("2001:db8:1:3::1"));
        let address = "2001:db8:1:2:3:4:5:6".parse().unwrap();
        let within = |bits| key(&Ip, RequestContext::builder().ip_within(address, bits));
        assert_eq!(within(128).as_str(), "2001%3Adb8%3A1%3A2%3A3%3A4%3A5%3A6");
        assert_eq!(within(32).as_str(), "2001%3Adb8%3A%3A/32");
        assert_eq!(within(0).as_str(), "%3A%3A/0");
    }

    /// A rule for a /64 beside one for a /48.
    #[test]
    fn an_address_has_more_than_one_network() {
        let address = "2001:db8:1:2:3:4:5:6".parse().unwrap();
        let within = |v4_bits, v6_bits| {
            key(&prefix(&Ip, v4_bits, v6_bits), RequestContext::builder().ip(address))
                .as_str()
                .to_owned()
        };
        assert_eq!(within(24, 48), "2001%3Adb8%3A1%3A%3A/48");
        assert_eq!(within(24, 64), ip("2001:db8:1:2::"));
        assert_eq!(within(24, 128), "2001%3Adb8%3A1%3A2%3A3%3A4%3A5%3A6/128");
        let context = RequestContext::builder().ip(address).build();
        assert_eq!(context.ip_network_key(24, 48).as_str(), within(24, 48));
        let v4 = RequestContext::builder().ip("64:ff9b::203.0.113.7".parse().unwrap()).build();
        assert_eq!(v4.ip_network_key(24, 48).as_str(), "203.0.113.0/24");
        assert!(RequestContext::builder().build().ip_network_key(24, 48).needs_context());
        // Also through other functions, and behind a default.
        let nested = lower(&Ip);
        assert_eq!(
            key(&prefix(&nested, 24, 48), RequestContext::builder().ip(address)).as_str(),
            within(24, 48)
        );
        assert_eq!(
            key(&lower(&Ip), RequestContext::builder().ip(address)).as_str(),
            ip("2001:db8:1:2::")
        );
    }

    #[test]
    fn f37_a_route_is_written_as_in_the_service() {
        let route =
            |route: &str| key(&Route, RequestContext::builder().route(route)).as_str().to_owned();
        assert_eq!(route("/users/{id}"), "/users/%7Bid%7D");
        assert_eq!(route("/%61"), "/%2561");
        let context = RequestContext::builder().path("/users/1").route("/users/{id}").build();
        assert_eq!(context.route_key().as_str(), "/users/%7Bid%7D");
        assert_eq!(context.path(), Some("/users/1"));
    }

    #[test]
    fn a_path_to_compare_with() {
        let decoded = |path: &str| {
            let context = RequestContext::builder().path(path).build();
            context.decoded_path().map(Cow::into_owned)
        };
        for (written, path) in [
            ("/health", "/health"),
            ("/%68ealth", "/health"),
            ("/h%C3%A9", "/h\u{e9}"),
            ("//health", "//health"),
            ("/a%2Fb", "/a%2Fb"),
            ("/a%2fb", "/a%2Fb"),
            ("/%2e%2E/x", "/../x"),
            ("/100%", "/100%"),
        ] {
            assert_eq!(decoded(written).as_deref(), Some(path), "{written}");
        }
        assert_eq!(decoded("/%ff"), None);
        assert_eq!(RequestContext::builder().build().decoded_path(), None);
    }

    #[test]
    fn however_a_path_is_written_it_is_one_key() {
        let path =
            |path: &str| key(&Path, RequestContext::builder().path(path)).as_str().to_owned();
        for written in ["/a:b/\u{e9}", "/%61:b/%C3%A9", "/a%3ab/%c3%a9", "%2Fa%3Ab/\u{e9}"] {
            assert_eq!(path(written), path("/a:b/\u{e9}"), "{written}");
        }
        // Once, as routers do.
        assert_ne!(path("/%2561"), path("/a"));
        let mut others =
            ["/%", "/%6", "/%6g", "/%+1", "/%ff", "/%fe", "/%00", "/a"].map(path).to_vec();
        others.sort();
        others.dedup();
        assert_eq!(others.len(), 8, "{others:?}");
    }

    #[test]
    fn without_a_context_there_is_no_key() {
        let parts: [&dyn KeyPart; 8] =
            [&Ip, &Path, &Route, &Method, &User, &Tenant, &Device, &Header("x")];
        for part in parts {
            let alone = KeyBuilder::new().value(part).finish();
            assert_eq!(alone.missing(), Some(Missing::Context));
            let with_default = KeyBuilder::new().value_or(part, "nobody").finish();
            assert!(with_default.needs_context(), "a default is for requests");
        }
        // Nor without what every request has.
        let missing = |part: &dyn KeyPart| key(part, RequestContext::builder()).missing();
        assert_eq!(missing(&Ip), Some(Missing::ClientIp));
        assert_eq!(missing(&lower(&Ip)), Some(Missing::ClientIp));
        assert_eq!(missing(&Path), Some(Missing::Context));
        assert_eq!(missing(&Method), Some(Missing::Context));
        assert_eq!(missing(&Route), Some(Missing::Route));
        assert_eq!(RequestContext::builder().build().route_key().missing(), Some(Missing::Route));
    }

    #[test]
    fn what_is_not_there_has_a_default() {
        let context = || RequestContext::builder().user("ann").header("X-Key", "k");
        let with = |part: &dyn KeyPart| {
            let build = || KeyBuilder::new().value_or(part, "none").finish().as_str().to_owned();
            context().build().scope_blocking(build)
        };
        assert_eq!((&*with(&User), &*with(&Tenant), &*with(&Device)), ("ann", "none", "none"));
        assert_eq!((&*with(&Header("x-key")), &*with(&Header("y"))), ("k", "none"));
    }

    #[test]
    fn headers_of_any_bytes_are_different_keys() {
        let values: [&[u8]; 8] =
            [b"a", b"%FF", b"\xff", b"\xfe", b"a\xff", b"\xc3\xa9", b"\xc3", "\u{fffd}".as_bytes()];
        // Also when a function makes a text of them first.
        let parts: [&dyn KeyPart; 3] = [&Header("x"), &trim(&Header("x")), &lower(&Header("x"))];
        for part in parts {
            let mut keys: Vec<String> = values
                .iter()
                .map(|value| key(part, RequestContext::builder().header("x", *value)))
                .map(|key| key.as_str().to_owned())
                .collect();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), values.len(), "{keys:?}");
        }
        assert!(key(&Header("x"), RequestContext::builder().header("x", "")).has_empty_value());
        let folded =
            |value: &[u8]| key(&fold(&Header("x")), RequestContext::builder().header("x", value));
        assert_ne!(folded(b"a\xff"), folded(b"a"));
        assert_ne!(folded(b"a\xff"), folded(b"aff"));
        assert_ne!(folded(b"\xc3\xa9\xff"), folded(b"\xc3\xa9\xfe"));
        let number =
            |value: &[u8]| key(&digits(&Header("x")), RequestContext::builder().header("x", value));
        assert_eq!(number(b"1\x99\xff2").as_str(), "12");
        // Nor after another function.
        for bytes in [&b"1\x99\xff2"[..], b"1\xff\xd92", b"\x9f1\xff2\x90"] {
            let with = || RequestContext::builder().header("x", bytes);
            assert_eq!(key(&digits(&fold(&Header("x"))), with()).as_str(), "12");
            assert_eq!(key(&digits(&lower(&Header("x"))), with()).as_str(), "12");
            assert_eq!(key(&digits(&trim(&lower(&Header("x")))), with()).as_str(), "12");
        }
        let lowered = key(&lower(&Header("x")), RequestContext::builder().header("x", b"A\xff"));
        assert_eq!(lowered.as_str(), "a%FF");
    }
}
