//! One form of each address: all that normalise addresses do it here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One customer of a provider has at least a /64 to take addresses from.
pub(crate) const V6_BITS: u8 = 64;

/// The IPv4 address, where one of IPv6 carries it: for a socket for both kinds, behind a translator, or in a
/// tunnel. So the same host or customer is one, however it comes.
///
/// | written | is |
/// | --- | --- |
/// | `::ffff:a.b.c.d` | an IPv4 address on a socket for both kinds (RFC 4291) |
/// | `::ffff:0:a.b.c.d` | behind a stateless translator (RFC 7915, RFC 2765) |
/// | `64:ff9b::a.b.c.d` | behind a NAT64 (RFC 6052) |
/// | `64:ff9b:1:…:a.b.c.d` | behind a NAT64 of a network's own (RFC 8215): the last 32 bits, as in the /96 that is usual |
/// | `2002:aabb:ccdd:…` | of the 6to4 site at a.b.c.d (RFC 3056): all of its /48 |
/// | `2001:0:…` | Teredo (RFC 4380): the address of the client, which is kept inverted |
///
/// `::a.b.c.d` is none of them: nobody uses it, and `::1` has that form.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded(v6).map_or(address, IpAddr::V4),
    }
}

fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [0x64, 0xff9b, 1, ..] => Some(last_32_bits(address)),
        [0x2002, high, low, ..] => end_of_tunnel(u32::from(high) << 16 | u32::from(low)),
        [0x2001, 0, ..] => end_of_tunnel(!last_32_bits(address).to_bits()),
        _ => None,
    }
}

fn last_32_bits(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

fn end_of_tunnel(bits: u32) -> Option<Ipv4Addr> {
    Some(Ipv4Addr::from_bits(bits)).filter(|address| is_of_internet(*address))
}

/// Whether a tunnel over the internet can end there. One that says that it ends in a private network is an
/// invention, and must not be taken for a proxy in that network.
fn is_of_internet(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    !(address.is_private() || address.is_loopback() || address.is_link_local() || is_shared)
        && (1..224).contains(&first)
}

/// An address as people and proxies write it: with or without port, brackets, quotes and zone.
pub(crate) fn parse(bytes: &[u8]) -> Option<IpAddr> {
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
    bare.parse().ok()
}

/// The network of an address, of which so many bits count.
pub(crate) fn network_v4(address: Ipv4Addr, bits: u8) -> Ipv4Addr {
    let host = 32_u32.saturating_sub(u32::from(bits));
    let mask = u32::MAX.checked_shl(host).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

/// The network of an address, of which so many bits count.
pub(crate) fn network_v6(address: Ipv6Addr, bits: u8) -> Ipv6Addr {
    let host = 128_u32.saturating_sub(u32::from(bits));
    let mask = u128::MAX.checked_shl(host).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & mask)
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
            assert_eq!(canonical(parse(text.as_bytes()).unwrap()).to_string(), is, "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        let texts: [&[u8]; 13] = [
            b"",
            b"unknown",
            b"_hidden",
            b"1.2.3",
            b"[::1",
            b"\"",
            b":80",
            b"\xff",
            b"1.2.3.4.5",
            // Other readers take these for addresses.
            b"08.8.8.8",
            b"8.8.8.8.",
            b"0x8.8.8.8",
            b"134744072",
        ];
        for text in texts {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn one_form_is_the_last() {
        for text in ["::1", "::", "2002:808:808::1", "64:ff9b:1::1", "2001:db8::1", "2002:a00:1::1"]
        {
            let once = canonical(text.parse().unwrap());
            assert_eq!(canonical(once), once, "{text}");
        }
    }
}
