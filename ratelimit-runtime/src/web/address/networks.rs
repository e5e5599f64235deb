//! The networks in which proxies are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::nat64::Nat64;
use crate::address::canonical;
use crate::error::ConfigError;

/// The networks that are written there, if they do not hold everybody.
pub(super) fn of<N: AsRef<str>>(
    entries: impl IntoIterator<Item = N>,
) -> Result<Arc<[IpNet]>, ConfigError> {
    let mut networks = Vec::new();
    let mut last: Box<str> = Box::default();
    for entry in entries {
        let text = entry.as_ref();
        last = text.into();
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        let network = text
            .parse()
            .or_else(|_| address())
            .map_err(|_| ConfigError::Network { entry: text.into() })?;
        let network = one_form(network);
        if hold_everybody(&[network]) {
            return Err(ConfigError::TrustsEverybody { entry: last });
        }
        networks.push(network);
    }
    if hold_everybody(&networks) {
        return Err(ConfigError::TrustsEverybody { entry: last });
    }
    Ok(networks.into())
}

/// A prefix behind which all of IPv4 is must not be trusted as a whole, nor piece by piece.
pub(super) fn must_not_hold(networks: &[IpNet], prefix: &Nat64) -> Result<(), ConfigError> {
    let behind = |network: &IpNet| match network {
        // An address with the prefix is trusted by what it carries, too.
        IpNet::V4(v4) => Some(IpNet::V4(*v4)),
        IpNet::V6(v6) => prefix.embedded_network(*v6).map(IpNet::V4),
    };
    let all: Vec<IpNet> = networks.iter().filter_map(behind).collect();
    if !hold_everybody(&all) {
        return Ok(());
    }
    // The one that is everybody by itself, or else the last that adds to it.
    let alone =
        networks.iter().find(|network| behind(network).is_some_and(|v4| hold_everybody(&[v4])));
    let entry = alone.or(networks.iter().rfind(|network| behind(network).is_some()));
    let entry = entry.map(ToString::to_string).unwrap_or_default();
    Err(ConfigError::TrustsEverybody { entry: entry.into() })
}

/// Forms of IPv6 in which all of IPv4 is, and how many bits of one stand before an address.
const CARRIERS: [(Ipv6Addr, u8); 6] = [
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32),
];

/// A network of IPv4 also where it is written as one of translated addresses, of which the last 32 bits are
/// the address. A network of tunnels stays as it is: that of an end would be more than what is written.
fn one_form(network: IpNet) -> IpNet {
    let IpNet::V6(v6) = network else { return network };
    let is_tunnel = matches!(v6.addr().segments(), [0x2002, ..] | [0x2001, 0, ..]);
    match (v6.prefix_len().checked_sub(96), canonical(v6.addr().into())) {
        (Some(bits), IpAddr::V4(v4)) if !is_tunnel => {
            Ipv4Net::new(v4, bits).map_or(network, IpNet::V4)
        }
        _ => network,
    }
}

/// Whether all of IPv4 or of IPv6 is in these networks, or as good as all.
fn hold_everybody(networks: &[IpNet]) -> bool {
    // Nobody has an address in these: there is no need to trust them as well.
    let nobody = [
        Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 8),
        Ipv4Net::new_assert(Ipv4Addr::new(224, 0, 0, 0), 3),
    ];
    let v4 = networks.iter().filter_map(|network| match network {
        IpNet::V4(v4) => Some(*v4),
        IpNet::V6(_) => None,
    });
    let v4 = Ipv4Net::aggregate(&v4.chain(nobody).collect());
    if v4.iter().any(|network| network.prefix_len() == 0) {
        return true;
    }
    let v6 = networks.iter().filter_map(|network| match network {
        IpNet::V4(_) => None,
        IpNet::V6(v6) => Some(*v6),
    });
    let v6 = Ipv6Net::aggregate(&v6.collect());
    // All that was ever given out.
    let unicast = Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
    let carriers = CARRIERS.map(|(prefix, bits)| Ipv6Net::new_assert(prefix, bits));
    v6.iter().any(|network| {
        network.contains(&unicast)
            || carriers.iter().any(|carrier| network.contains(carrier))
            // A part of these is a /96 of its own, or several.
            || matches!(network.addr().segments(), [0x64, 0xff9b, 1, ..])
    })
}
