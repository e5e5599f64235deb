//! Prefixes that an operator's own NAT64 puts before IPv4 addresses.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{Ipv4Net, Ipv6Net};

use crate::error::ConfigError;

/// A prefix of one of the lengths that there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nat64 {
    network: Ipv6Net,
}

impl Nat64 {
    pub(super) fn new(text: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::Nat64Prefix { entry: text.into() };
        let network: Ipv6Net = text.parse().map_err(|_| wrong())?;
        let is_one = matches!(network.prefix_len(), 32 | 40 | 48 | 56 | 64 | 96);
        if is_one && network.network() == network.addr() {
            Ok(Self { network })
        } else {
            Err(wrong())
        }
    }

    /// The IPv4 address in an address with this prefix: behind it, around the ninth byte, which is always zero
    /// (RFC 6052, section 2.2).
    pub(super) fn embedded(&self, address: IpAddr) -> Option<Ipv4Addr> {
        let IpAddr::V6(v6) = address else { return None };
        if !self.network.contains(&v6) {
            return None;
        }
        let skip = usize::from(self.network.prefix_len() / 8);
        let octets = v6.octets();
        let mut behind =
            octets.iter().enumerate().skip(skip).filter(|(n, _)| *n != 8).map(|(_, octet)| *octet);
        let mut next = || behind.next();
        Some(Ipv4Addr::new(next()?, next()?, next()?, next()?))
    }

    /// The IPv4 addresses of which this network holds the ones with this prefix.
    pub(super) fn embedded_network(&self, network: Ipv6Net) -> Option<Ipv4Net> {
        if network.contains(&self.network) {
            return Some(Ipv4Net::default());
        }
        if !self.network.contains(&network) {
            return None;
        }
        let (prefix, len) = (self.network.prefix_len(), network.prefix_len());
        let bits = match prefix {
            96 => len - 96,
            // Around the ninth byte.
            _ => (len.min(64) - prefix) + len.saturating_sub(72),
        };
        let address = self.embedded(network.addr().into())?;
        Ipv4Net::new(address, bits.min(32)).ok().map(|network| network.trunc())
    }
}
