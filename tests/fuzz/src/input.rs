//! A request, made of any bytes. As a text it can be read and written by people:
//!
//! ```text
//! fn10.0.0.1
//! for=203.0.113.9, for=10.0.0.2
//! for=10.0.0.3
//! ```
//!
//! The first byte says which header is read (`f`: `Forwarded`, else `X-Forwarded-For`), the second
//! who is trusted ([`Trust`]), and the rest of the line is the peer. Each further line is a header.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a request and a configuration are made of.
pub(crate) struct Input<'a> {
    pub(crate) forwarded: bool,
    pub(crate) trust: Trust,
    pub(crate) peer: IpAddr,
    pub(crate) lines: Vec<&'a [u8]>,
}

/// Who is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// `p`: only what the socket says.
    Peer,
    /// `1` to `9`: so many hops; `m`: more than there ever are.
    Hops(usize),
    /// `e`: all who ask.
    Everybody,
    /// Any other byte: two networks, see [`is_proxy`].
    Networks,
}

/// The networks that are trusted.
pub(crate) const NETWORKS: [&str; 2] = ["10.0.0.0/8", "2001:db8::/32"];

/// Whether an address is in one of [`NETWORKS`], without the code that is tested.
pub(crate) fn is_proxy(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.octets().starts_with(&[10]),
        IpAddr::V6(v6) => v6.segments().starts_with(&[0x2001, 0xdb8]),
    }
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let (source, first) = first.split_first().unwrap_or((&b'x', &[]));
        let (trust, peer) = first.split_first().unwrap_or((&b'n', &[]));
        let trust = match trust {
            b'p' => Trust::Peer,
            b'e' => Trust::Everybody,
            b'm' => Trust::Hops(100),
            digit @ b'1'..=b'9' => Trust::Hops(usize::from(digit - b'0')),
            _ => Trust::Networks,
        };
        let lines = lines.collect();
        Self { forwarded: *source == b'f', trust, peer: peer_of(peer), lines }
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = if self.forwarded { "Forwarded" } else { "X-Forwarded-For" };
        write!(f, "{:?} from {}", self.trust, self.peer)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n{header}: {}", line.escape_ascii()))
    }
}

/// The address that is written there, or else the one whose bytes these are.
fn peer_of(bytes: &[u8]) -> IpAddr {
    let written = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    written.unwrap_or_else(|| match bytes.len() {
        0..=4 => IpAddr::V4(Ipv4Addr::from(padded(bytes))),
        _ => IpAddr::V6(Ipv6Addr::from(padded(bytes))),
    })
}

fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    padded
}
