//! The header `Forwarded` (RFC 7239): elements between commas, pairs between semicolons, values that
//! may be quoted. Who asked is in the pair `for`.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::address::parse as address;

/// Who asked, the last element first, at most so many; `None` for an element that does not tell an
/// address.
pub(super) fn list<'h>(
    values: impl IntoIterator<Item = &'h [u8]>,
    most: usize,
) -> Vec<Option<IpAddr>> {
    // Only from the left can quotes be told from text. What is not kept is not looked into.
    let mut last: VecDeque<&[u8]> = VecDeque::with_capacity(most);
    for element in values.into_iter().flat_map(|value| split(value, b',')) {
        last.truncate(most.saturating_sub(1));
        last.push_front(element);
    }
    last.into_iter().map(element).collect()
}

/// The address in the pair `for` of an element.
///
/// A quote out of place makes all of it worth nothing: a client that opens one and leaves it open hides
/// in it what the proxy appends to the same line, and its own `for` in front must not count instead.
fn element(element: &[u8]) -> Option<IpAddr> {
    let mut found = None;
    for pair in split(element, b';') {
        let Some((name, value)) = name_and_value(pair) else {
            if pair.contains(&b'"') {
                return None;
            }
            continue;
        };
        let value = unquoted(value)?;
        if found.is_none() && name.eq_ignore_ascii_case(b"for") {
            found = Some(value);
        }
    }
    address(&found?)
}

fn name_and_value(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (pair.get(..at)?, pair.get(at + 1..)?);
    (!name.contains(&b'"')).then(|| (name.trim_ascii(), value.trim_ascii()))
}

/// The parts between separators that are in no quotes.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |byte| {
        let was_escaped = std::mem::take(&mut escaped);
        match byte {
            b'\\' if quoted && !was_escaped => escaped = true,
            b'"' if !was_escaped => quoted = !quoted,
            byte => return !quoted && *byte == separator,
        }
        false
    })
}

/// Without quotes, and without the `\` of characters that stand for themselves; `None` if a quote is
/// anywhere but around all of it.
fn unquoted(value: &[u8]) -> Option<Vec<u8>> {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        return (!value.contains(&b'"')).then(|| value.to_vec());
    };
    let mut bare = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied();
    loop {
        match bytes.next()? {
            b'\\' => bare.push(bytes.next()?),
            b'"' => return bytes.next().is_none().then_some(bare),
            byte => bare.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(value: &str) -> Vec<String> {
        let none = || "-".to_owned();
        let show = |hop: Option<IpAddr>| hop.map_or_else(none, |ip| ip.to_string());
        list([value.as_bytes()], 64).into_iter().map(show).collect()
    }

    #[test]
    fn elements_from_the_right() {
        assert_eq!(all("for=192.0.2.43, for=198.51.100.17"), ["198.51.100.17", "192.0.2.43"]);
        assert_eq!(all(r#"For="[2001:db8:cafe::17]:4711""#), ["2001:db8:cafe::17"]);
        assert_eq!(all("for=192.0.2.60;proto=http;by=203.0.113.43"), ["192.0.2.60"]);
        assert_eq!(all("proto=http; FOR = 192.0.2.60"), ["192.0.2.60"]);
        assert_eq!(all(r#"for="192\.0.2.60""#), ["192.0.2.60"]);
    }

    #[test]
    fn separators_in_quotes_are_text() {
        assert_eq!(all(r#"by="a,for=1.1.1.1;\"x";for=2.2.2.2"#), ["2.2.2.2"]);
        assert_eq!(all(r#"for=1.1.1.1, by="open, for=2.2.2.2"#), ["-", "1.1.1.1"]);
    }

    #[test]
    fn a_quote_that_a_client_leaves_open_hides_no_proxy() {
        // What a proxy appends to the same line is behind the `,`.
        assert_eq!(all(r#"for=1.1.1.1;by=", for=2.2.2.2"#), ["-"]);
        assert_eq!(all(r#"for=1.1.1.1;by=", for="2.2.2.2:80";proto=http"#), ["-"]);
        assert_eq!(all(r#"for=1.1.1.1;by=", for="[2001:db8::1]";by="10.0.0.1:80""#), ["-"]);
        assert_eq!(all(r#"for=1.1.1.1;by="\, for="2.2.2.2";host="a\"b""#), ["-"]);
        assert_eq!(all(r#"for=1.1.1.1;", for=2.2.2.2"#), ["-"]);
        assert_eq!(all(r#"for=1.1.1.1;x"=", for=2.2.2.2"#), ["2.2.2.2", "-"]);
        assert_eq!(all(r#"for=1.1.1.1"", for=2.2.2.2"#), ["2.2.2.2", "-"]);
    }

    #[test]
    fn what_tells_no_address() {
        assert_eq!(all("for=unknown, proto=https, for=_x, for, ="), ["-", "-", "-", "-", "-"]);
    }

    #[test]
    fn only_the_last_are_kept() {
        let value = "for=1.1.1.1,".repeat(5_000) + "for=2.2.2.2";
        let hops = list([value.as_bytes()], 64);
        assert_eq!((hops.len(), hops[0]), (64, Some("2.2.2.2".parse().unwrap())));
    }
}
