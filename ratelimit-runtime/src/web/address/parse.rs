//! Addresses as proxies write them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The entries of a comma-separated list, the last one first, at most so many; `None` for one that is
/// no address.
pub(super) fn list<'h>(
    values: impl IntoIterator<Item = &'h [u8]>,
    most: usize,
) -> Vec<Option<IpAddr>> {
    let values: Vec<&[u8]> = values.into_iter().collect();
    let entries = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    entries.take(most).map(address).collect()
}

/// An address, with or without port, brackets, quotes and zone.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let bare = if let Some(rest) = text.strip_prefix('[') {
        rest.split_once(']')?.0
    } else if text.matches(':').count() == 1 {
        // One colon is no IPv6 address, but a port behind one of IPv4.
        text.split_once(':')?.0
    } else {
        text
    };
    let bare = bare.split_once('%').map_or(bare, |(address, _zone)| address);
    bare.parse().ok().map(canonical)
}

/// An IPv4 address also where it is written as one of IPv6, for a socket for both kinds or behind a
/// NAT64 (RFC 6052).
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if v6.segments().starts_with(&[0x64, 0xff9b, 0, 0, 0, 0]) => {
            IpAddr::V4(low_half(v6))
        }
        address => address,
    }
}

fn low_half(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_address() {
        for (text, is) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7:80 ", "203.0.113.7"),
            ("\"203.0.113.7\"", "203.0.113.7"),
            ("[fe80::1%eth0]:80", "fe80::1"),
            ("fe80::1%2", "fe80::1"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("[64:ff9b::102:304]", "1.2.3.4"),
        ] {
            assert_eq!(address(text.as_bytes()).unwrap().to_string(), is, "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        let texts: [&[u8]; 9] =
            [b"", b"unknown", b"_hidden", b"1.2.3", b"[::1", b"\"", b":80", b"\xff", b"1.2.3.4.5"];
        for text in texts {
            assert_eq!(address(text), None, "{text:?}");
        }
    }
}
