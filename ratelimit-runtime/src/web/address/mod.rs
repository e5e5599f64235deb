//! The client's address: the peer's, or what proxies that are trusted say.

#[cfg(test)]
mod any;
mod forwarded;
mod hint;
mod parse;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use self::hint::Hint;
use self::parse::canonical;
use crate::error::ConfigError;
use crate::key::functions::V6_BITS;

/// A walk goes past so many proxies at most: more are a mistake or an attack.
const MAX_PROXIES: usize = 64;

/// How the client's address is found.
///
/// It is the address of the peer, unless that is a proxy that is trusted: then the walk goes over one
/// header, from the right, past all addresses that are trusted, and the first that is not is the
/// client's. What stands left of it was written by the client, and counts for nothing.
///
/// ```
/// # use ratelimit_runtime::ClientIp;
/// let peer = "10.0.0.5".parse().unwrap();
/// let header: [&[u8]; 1] = [b"198.51.100.7, 203.0.113.9"];
///
/// assert_eq!(ClientIp::of_peer().find(peer, header), peer);
///
/// let behind = ClientIp::behind(["10.0.0.0/8"])?;
/// assert_eq!(behind.find(peer, header).to_string(), "203.0.113.9");
/// # Ok::<(), ratelimit_runtime::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ClientIp {
    trust: Trust,
    source: Source,
    v6_bits: u8,
    hint: Arc<Hint>,
}

#[derive(Clone, Debug)]
enum Trust {
    Nobody,
    Networks(Arc<[IpNet]>),
    /// The peer and so many before it.
    Hops(usize),
    Everybody,
}

/// The one header that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    XForwardedFor,
    Forwarded,
}

impl ClientIp {
    /// The peer's address. Right where clients connect directly; behind a proxy, all of them would be
    /// one.
    pub fn of_peer() -> Self {
        Self::new(Trust::Nobody)
    }

    /// Behind proxies in these networks, such as `10.0.0.0/8` or a single address. They append the
    /// address that they see to `X-Forwarded-For`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Network`] if one is neither a network nor an address.
    pub fn behind<N: AsRef<str>>(
        proxies: impl IntoIterator<Item = N>,
    ) -> Result<Self, ConfigError> {
        let network = |text: N| {
            let text = text.as_ref();
            let address = || text.parse::<IpAddr>().map(IpNet::from);
            text.parse().or_else(|_| address()).map(one_form).map_err(|_| ConfigError::Network)
        };
        let networks: Result<Arc<[IpNet]>, ConfigError> =
            proxies.into_iter().map(network).collect();
        Ok(Self::new(Trust::Networks(networks?)))
    }

    /// Behind so many proxies, one after the other, whatever their addresses are: the peer is the
    /// last of them. Only right if nobody can reach the service past them.
    pub fn behind_hops(proxies: usize) -> Self {
        Self::new(if proxies == 0 { Trust::Nobody } else { Trust::Hops(proxies) })
    }

    /// Takes whatever the header says first, from anybody. Everybody can choose an address then, and
    /// with it somebody else's budget, or a new one for each request: for tests.
    pub fn dangerously_trusting_everybody() -> Self {
        Self::new(Trust::Everybody)
    }

    fn new(trust: Trust) -> Self {
        Self { trust, source: Source::XForwardedFor, v6_bits: V6_BITS, hint: Arc::default() }
    }

    /// Reads `Forwarded` (RFC 7239) instead of `X-Forwarded-For`, never both: the other one is the
    /// client's to write.
    #[must_use]
    pub fn forwarded(mut self) -> Self {
        self.source = Source::Forwarded;
        self
    }

    /// How many bits of an IPv6 address stand for one client; else 64, which one customer of a
    /// provider has at least.
    #[must_use]
    pub fn v6_bits(mut self, bits: u8) -> Self {
        self.v6_bits = bits.min(128);
        self
    }

    /// The name of the header that is read, in lower case.
    pub fn header(&self) -> &'static str {
        match self.source {
            Source::XForwardedFor => "x-forwarded-for",
            Source::Forwarded => "forwarded",
        }
    }

    /// The client's address, from that of the peer and the values of the [header](Self::header), in
    /// their order.
    pub fn find<'h>(&self, peer: IpAddr, values: impl IntoIterator<Item = &'h [u8]>) -> IpAddr {
        let peer = canonical(peer);
        let found = self.walk(peer, values);
        self.hint.look(found, matches!(self.trust, Trust::Nobody));
        found
    }

    fn walk<'h>(&self, peer: IpAddr, values: impl IntoIterator<Item = &'h [u8]>) -> IpAddr {
        if matches!(self.trust, Trust::Nobody) || !self.trusts(peer, 0) {
            return peer;
        }
        let hops = match self.source {
            Source::XForwardedFor => parse::list(values, MAX_PROXIES),
            Source::Forwarded => forwarded::list(values, MAX_PROXIES),
        };
        if let Trust::Everybody = self.trust {
            return hops.into_iter().flatten().last().unwrap_or(peer);
        }
        let mut last = peer;
        for (n, hop) in hops.into_iter().enumerate() {
            // What is no address cannot be walked past: whoever wrote it is the end of the way.
            let Some(address) = hop else { break };
            last = address;
            if !self.trusts(address, n + 1) {
                break;
            }
        }
        last
    }

    /// Whether what an address says about the one before it counts; it is so many steps away.
    fn trusts(&self, address: IpAddr, steps: usize) -> bool {
        match &self.trust {
            Trust::Nobody => false,
            Trust::Networks(networks) => networks.iter().any(|network| network.contains(&address)),
            Trust::Hops(proxies) => steps < *proxies,
            Trust::Everybody => true,
        }
    }

    /// How many bits of an IPv6 address stand for one client.
    pub(crate) fn bits(&self) -> u8 {
        self.v6_bits
    }
}

/// A network of IPv4 also where it is written as one of IPv6, as the addresses are that are compared
/// with it.
fn one_form(network: IpNet) -> IpNet {
    let (prefix, address) = (network.prefix_len().checked_sub(96), canonical(network.addr()));
    match (network, prefix, address) {
        (IpNet::V6(_), Some(prefix), IpAddr::V4(_)) => {
            IpNet::new(address, prefix).unwrap_or(network)
        }
        _ => network,
    }
}

impl Default for ClientIp {
    fn default() -> Self {
        Self::of_peer()
    }
}

impl fmt::Debug for ClientIp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIp")
            .field("trust", &self.trust)
            .field("source", &self.source)
            .field("v6_bits", &self.v6_bits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn find(how: &ClientIp, peer: &str, values: &[&str]) -> String {
        how.find(ip(peer), values.iter().map(|value| value.as_bytes())).to_string()
    }

    fn behind_ten() -> ClientIp {
        ClientIp::behind(["10.0.0.0/8"]).unwrap()
    }

    #[test]
    fn b076_what_clients_write_is_not_believed() {
        let how = behind_ten();
        for n in 0..100 {
            let value = format!("198.51.100.{n}, 203.0.113.9");
            assert_eq!(find(&how, "10.0.0.5", &[&value]), "203.0.113.9");
        }
        assert_eq!(find(&how, "10.0.0.5", &["9.9.9.9, 203.0.113.10, 10.1.1.1"]), "203.0.113.10");
        assert_eq!(find(&how, "10.0.0.5", &["10.0.0.7"]), "10.0.0.7");
        // Several headers are one list.
        assert_eq!(
            find(&how, "10.0.0.5", &["9.9.9.9", "203.0.113.10", "10.1.1.1"]),
            "203.0.113.10"
        );
    }

    #[test]
    fn b077_ports_brackets_and_quotes() {
        let same = |how: &ClientIp, values: &[&str], address: &str| {
            for value in values {
                assert_eq!(find(how, "10.0.0.5", &[value]), address, "{value}");
            }
        };
        let how = behind_ten();
        same(&how, &["203.0.113.7:54321", "203.0.113.7:1", "203.0.113.7"], "203.0.113.7");
        same(&how, &["[2001:db8::1]:443", "2001:db8::1", "[2001:db8::1]"], "2001:db8::1");
        let how = behind_ten().forwarded();
        let values = [r#"for="[2001:db8:5::2]:80";proto=https"#, r#"For="[2001:db8:5::2]""#];
        same(&how, &values, "2001:db8:5::2");
    }

    #[test]
    fn b078_mapped_addresses() {
        let how = behind_ten();
        for peer in ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"] {
            assert_eq!(find(&how, peer, &[]), "192.0.2.1");
        }
        assert_eq!(find(&how, "::ffff:192.0.2.2", &[]), "192.0.2.2");
        assert_ne!(find(&how, "2001:db8:1:2::1.2.3.4", &[]), find(&how, "1.2.3.4", &[]));
        assert_eq!(find(&how, "::ffff:10.0.0.5", &["203.0.113.50"]), "203.0.113.50");
        // NAT64.
        assert_eq!(find(&how, "64:ff9b::192.0.2.1", &[]), "192.0.2.1");
    }

    #[test]
    fn b082_without_trust_no_header_counts() {
        for how in [ClientIp::of_peer(), ClientIp::behind_hops(0), behind_ten()] {
            for value in ["203.0.113.9", "10.0.0.1", "for=1.2.3.4", ""] {
                assert_eq!(find(&how, "198.51.100.7", &[value]), "198.51.100.7");
            }
        }
        let everybody = ClientIp::dangerously_trusting_everybody();
        assert_eq!(find(&everybody, "198.51.100.7", &["1.2.3.4, 10.0.0.1"]), "1.2.3.4");
    }

    #[test]
    fn hops_are_counted_from_the_peer() {
        let values = ["1.1.1.1, 2.2.2.2, 3.3.3.3"];
        for (hops, address) in [(1, "3.3.3.3"), (2, "2.2.2.2"), (3, "1.1.1.1"), (9, "1.1.1.1")] {
            assert_eq!(find(&ClientIp::behind_hops(hops), "4.4.4.4", &values), address);
        }
        assert_eq!(find(&ClientIp::behind_hops(2), "4.4.4.4", &[]), "4.4.4.4");
    }

    #[test]
    fn the_walk_ends_at_what_is_no_address() {
        let how = behind_ten();
        for value in ["1.1.1.1, unknown, 10.0.0.9", "1.1.1.1,,10.0.0.9", "1.1.1.1, _x, 10.0.0.9"] {
            assert_eq!(find(&how, "10.0.0.5", &[value]), "10.0.0.9", "{value}");
        }
        assert_eq!(find(&how, "10.0.0.5", &["garbage"]), "10.0.0.5");
        assert_eq!(find(&how.clone().forwarded(), "10.0.0.5", &["proto=https"]), "10.0.0.5");
    }

    #[test]
    fn networks_are_checked() {
        for networks in [["10.0.0.0/33"], ["ten"], [""], ["10.0.0.0/8,"]] {
            assert!(matches!(ClientIp::behind(networks), Err(ConfigError::Network)));
        }
        let one = ClientIp::behind(["10.0.0.5", "2001:db8::/32"]).unwrap();
        assert_eq!(find(&one, "10.0.0.5", &["1.1.1.1"]), "1.1.1.1");
        assert_eq!(find(&one, "10.0.0.6", &["1.1.1.1"]), "10.0.0.6");
        assert_eq!(find(&one, "2001:db8::9", &["1.1.1.1"]), "1.1.1.1");
    }

    #[test]
    fn networks_of_mapped_addresses() {
        for network in ["::ffff:10.0.0.0/104", "::ffff:10.0.0.5", "64:ff9b::10.0.0.0/104"] {
            let how = ClientIp::behind([network]).unwrap();
            for peer in ["10.0.0.5", "::ffff:10.0.0.5"] {
                assert_eq!(find(&how, peer, &["203.0.113.9"]), "203.0.113.9", "{network}");
            }
            assert_eq!(find(&how, "11.0.0.5", &["203.0.113.9"]), "11.0.0.5");
            assert_eq!(find(&how, "::a00:5", &["203.0.113.9"]), "::a00:5");
        }
    }
}
