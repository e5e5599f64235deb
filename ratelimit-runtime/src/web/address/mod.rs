//! The client's address: the peer's, or what proxies that are trusted say.

#[cfg(test)]
mod any;
mod forwarded;
mod hint;
mod nat64;
mod networks;
mod parse;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use self::hint::Hint;
use self::nat64::Nat64;
use crate::address::{V6_BITS, canonical};
use crate::error::ConfigError;

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
/// let behind = ClientIp::behind(["10.0.0.5"])?;
/// assert_eq!(behind.find(peer, header).to_string(), "203.0.113.9");
/// # Ok::<(), ratelimit_runtime::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ClientIp {
    trust: Trust,
    source: Source,
    v6_bits: u8,
    nat64: Arc<[Nat64]>,
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

    /// Behind proxies with these addresses, or in networks in which only they are, such as `10.0.8.0/28`. They
    /// append the address that they see to `X-Forwarded-For`. Whoever is in such a network can be any client.
    ///
    /// A proxy that is written as IPv4 is trusted also where it comes as IPv6 that carries that address.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Network`] if one is neither a network nor an address,
    /// [`ConfigError::TrustsEverybody`] if they hold all of IPv4 or of IPv6.
    pub fn behind<N: AsRef<str>>(
        proxies: impl IntoIterator<Item = N>,
    ) -> Result<Self, ConfigError> {
        Ok(Self::new(Trust::Networks(networks::of(proxies)?)))
    }

    /// Behind so many proxies, one after the other, whatever their addresses are: the peer is the
    /// last of them. Only right if nobody can reach the service past them: who can is believed as well.
    ///
    /// The peer needs no address, so this is for a service behind a Unix socket too. A request for which the
    /// header says nothing has no client's address there, and `@ip` is a mistake.
    pub fn behind_hops(proxies: usize) -> Self {
        Self::new(if proxies == 0 { Trust::Nobody } else { Trust::Hops(proxies) })
    }

    /// Takes whatever the header says first, from anybody. Everybody can choose an address then, and
    /// with it somebody else's budget, or a new one for each request: for tests.
    pub fn dangerously_trusting_everybody() -> Self {
        Self::new(Trust::Everybody)
    }

    fn new(trust: Trust) -> Self {
        Self {
            trust,
            source: Source::XForwardedFor,
            v6_bits: V6_BITS,
            nat64: Arc::default(),
            hint: Arc::default(),
        }
    }

    /// Reads `Forwarded` (RFC 7239) instead of `X-Forwarded-For`, never both: the other one is the
    /// client's to write.
    #[must_use]
    pub fn with_forwarded(mut self) -> Self {
        self.source = Source::Forwarded;
        self
    }

    /// How many bits of an IPv6 address stand for one client; else 64, which one customer of a
    /// provider has at least.
    #[must_use]
    pub fn with_v6_bits(mut self, bits: u8) -> Self {
        self.v6_bits = bits.min(128);
        self
    }

    /// Prefixes of the operator's own NAT64, such as `2001:db8:64::/96`, of 32, 40, 48, 56, 64 or 96 bits (RFC
    /// 6052). What comes from there counts as the IPv4 address in it. Without this, `64:ff9b::/96` is known, and
    /// in `64:ff9b:1::/48` the last 32 bits are taken; for a prefix in it with another length, name it here.
    ///
    /// Keys of functions that name an address themselves do not know of it: `@ip` does.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Nat64Prefix`] if one is no such prefix, [`ConfigError::TrustsEverybody`] if a network that is
    /// trusted holds all of one, or several do together.
    pub fn with_nat64<N: AsRef<str>>(
        mut self,
        prefixes: impl IntoIterator<Item = N>,
    ) -> Result<Self, ConfigError> {
        let prefixes: Result<Arc<[Nat64]>, ConfigError> =
            prefixes.into_iter().map(|text| Nat64::new(text.as_ref())).collect();
        self.nat64 = prefixes?;
        if let Trust::Networks(networks) = &self.trust {
            for prefix in &*self.nat64 {
                networks::must_not_hold(networks, prefix)?;
            }
        }
        Ok(self)
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
        if matches!(self.trust, Trust::Nobody) || !self.trusts(peer, 0) {
            return self.found(peer);
        }
        self.found(self.walk(values).unwrap_or(peer))
    }

    /// The client's address where the peer has none, as behind a Unix socket. Proxies that are counted, or whoever
    /// is believed, need none. `None`: there is nobody whom the header could be believed, or it says nothing.
    pub(crate) fn find_without_peer<'h>(
        &self,
        values: impl IntoIterator<Item = &'h [u8]>,
    ) -> Option<IpAddr> {
        match self.trust {
            Trust::Nobody | Trust::Networks(_) => None,
            Trust::Hops(_) | Trust::Everybody => self.walk(values).map(|found| self.found(found)),
        }
    }

    /// One form of an address that was found.
    fn found(&self, written: IpAddr) -> IpAddr {
        let found = self.canonical(written);
        self.hint.look(found, matches!(self.trust, Trust::Nobody));
        found
    }

    /// What the header says to a peer that is trusted: the client's address as it was written.
    fn walk<'h>(&self, values: impl IntoIterator<Item = &'h [u8]>) -> Option<IpAddr> {
        let hops = match self.source {
            Source::XForwardedFor => parse::list(values, MAX_PROXIES),
            Source::Forwarded => forwarded::list(values, MAX_PROXIES),
        };
        if let Trust::Everybody = self.trust {
            return hops.into_iter().flatten().last();
        }
        let mut last = None;
        for (n, hop) in hops.into_iter().enumerate() {
            // What is no address cannot be walked past: whoever wrote it is the end of the way.
            let Some(address) = hop else { break };
            last = Some(address);
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
            Trust::Networks(networks) => {
                // As it is written too: a network within a tunnel is less than the address of its end.
                let forms = [address, self.canonical(address)];
                networks.iter().any(|network| forms.iter().any(|form| network.contains(form)))
            }
            Trust::Hops(proxies) => steps < *proxies,
            Trust::Everybody => true,
        }
    }

    /// One form of each address, as this network translates them.
    fn canonical(&self, address: IpAddr) -> IpAddr {
        let own = self.nat64.iter().find_map(|prefix| prefix.embedded(address));
        own.map_or_else(|| canonical(address), IpAddr::V4)
    }

    /// How many bits of an IPv6 address stand for one client.
    pub(crate) fn bits(&self) -> u8 {
        self.v6_bits
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
            .field("nat64", &self.nat64)
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
        let how = behind_ten().with_forwarded();
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
    fn b080_translated_addresses() {
        let peer = ClientIp::of_peer();
        for (written, address) in [
            ("64:ff9b::808:808", "8.8.8.8"),
            ("64:ff9b::8.8.8.8", "8.8.8.8"),
            ("64:ff9b::909:909", "9.9.9.9"),
            ("64:ff9b:1::808:808", "8.8.8.8"),
            ("64:ff9b:1:ffff:1:2:808:808", "8.8.8.8"),
            ("::ffff:0:8.8.8.8", "8.8.8.8"),
            ("2002:808:808::1", "8.8.8.8"),
            ("2002:808:808:ffff:1:2:3:4", "8.8.8.8"),
            // Server, flags, port and address, the last two inverted.
            ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", "8.8.8.8"),
            // A tunnel from nowhere in the internet is nobody's.
            ("2002:a00:5::1", "2002:a00:5::1"),
            ("2002:7f00:1::1", "2002:7f00:1::1"),
            ("2001:0:4136:e378:8000:63bf:f5ff:fffa", "2001:0:4136:e378:8000:63bf:f5ff:fffa"),
            ("::8.8.8.8", "::808:808"),
            ("2001:1::808:808", "2001:1::808:808"),
            ("64:ff9b:2::808:808", "64:ff9b:2::808:808"),
        ] {
            assert_eq!(find(&peer, written, &[]), address, "{written}");
            assert_eq!(find(&behind_ten(), "10.0.0.5", &[written]), address, "{written}");
        }
    }

    #[test]
    fn b136_counted_proxies_need_no_peer() {
        let find = |how: &ClientIp, values: &[&str]| {
            let values = values.iter().map(|value| value.as_bytes());
            how.find_without_peer(values).map(|found| found.to_string())
        };
        let one = ClientIp::behind_hops(1);
        assert_eq!(find(&one, &["9.9.9.9, 203.0.113.1"]).as_deref(), Some("203.0.113.1"));
        assert_eq!(find(&one, &["::ffff:203.0.113.1"]).as_deref(), Some("203.0.113.1"));
        let two = ClientIp::behind_hops(2);
        assert_eq!(find(&two, &["203.0.113.1, 10.0.0.1"]).as_deref(), Some("203.0.113.1"));
        // As far as the header goes.
        assert_eq!(find(&two, &["203.0.113.1"]).as_deref(), Some("203.0.113.1"));
        for nothing in [&[][..], &[""], &["unknown"], &["203.0.113.1, unknown"]] {
            assert_eq!(find(&one, nothing), None, "{nothing:?}");
        }
        // Without a peer nobody is trusted by address.
        for how in [behind_ten(), ClientIp::of_peer(), ClientIp::behind_hops(0)] {
            assert_eq!(find(&how, &["203.0.113.1"]), None);
        }
    }

    /// RFC 6052, section 2.4: one address in prefixes of all lengths.
    #[test]
    fn an_operators_own_nat64() {
        for (prefix, written) in [
            ("2001:db8::/32", "2001:db8:c000:221::"),
            ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
            ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
            // Known, and here with another length.
            ("64:ff9b:1::/48", "64:ff9b:1:c000:2:2100::"),
        ] {
            let how = ClientIp::of_peer().with_nat64([prefix]).unwrap();
            assert_eq!(find(&how, written, &[]), "192.0.2.33", "{prefix}");
            assert_eq!(find(&how, "64:ff9b::9.9.9.9", &[]), "9.9.9.9");
            let behind = ClientIp::behind(["192.0.2.33"]).unwrap().with_nat64([prefix]).unwrap();
            assert_eq!(find(&behind, written, &["1.1.1.1"]), "1.1.1.1", "{prefix}");
            assert_eq!(find(&behind, "2001:db9::1", &["1.1.1.1"]), "2001:db9::1");
        }
        for prefix in
            ["2001:db8::/33", "2001:db8::/97", "10.0.0.0/32", "2001:db8::1/64", "x", "::/0"]
        {
            let Err(ConfigError::Nat64Prefix { entry }) = ClientIp::of_peer().with_nat64([prefix])
            else {
                panic!("{prefix}")
            };
            assert_eq!(&*entry, prefix);
        }
        let behind = ClientIp::behind(["2001:db8::/32"]).unwrap();
        let Err(ConfigError::TrustsEverybody { .. }) = behind.with_nat64(["2001:db8:64::/96"])
        else {
            panic!("all of IPv4 is trusted")
        };
        // In pieces, too.
        for (networks, prefix) in [
            (&["2001:db8:64::/97", "2001:db8:64::8000:0/97"][..], "2001:db8:64::/96"),
            (
                &["2001:db8:64::/98", "2001:db8:64::4000:0/98", "2001:db8:64::8000:0/97"],
                "2001:db8:64::/96",
            ),
            // Without what nobody has.
            (
                &["2001:db8:64::/97", "2001:db8:64::8000:0/98", "2001:db8:64::c000:0/99"],
                "2001:db8:64::/96",
            ),
            (&["0.0.0.0/1", "2001:db8:64::8000:0/97"], "2001:db8:64::/96"),
            (&["2001:db8:122::/49", "2001:db8:122:8000::/49"], "2001:db8:122::/48"),
            // The ninth byte is always zero.
            (&["2001:db8:1:2::/72"], "2001:db8:1:2::/64"),
            (&["2001:db8:1:2::/73", "2001:db8:1:2:80::/73"], "2001:db8:1:2::/64"),
        ] {
            let refused = ClientIp::behind(networks).unwrap().with_nat64([prefix]);
            let Err(ConfigError::TrustsEverybody { entry }) = refused else {
                panic!("all of IPv4 is trusted by {networks:?}")
            };
            assert!(networks.contains(&&*entry), "{entry}");
        }
        // Half of it, or none.
        for networks in [
            &["2001:db8:64::/97"][..],
            &["10.0.0.0/8", "2001:db9::/32"],
            &["2001:db8:64::8000:0/97", "2001:db8:65::/97"],
        ] {
            assert!(ClientIp::behind(networks).unwrap().with_nat64(["2001:db8:64::/96"]).is_ok());
        }
    }

    #[test]
    fn proxies_in_any_form() {
        for (trusted, proxy) in [
            ("203.0.113.7", "64:ff9b::203.0.113.7"),
            ("203.0.113.7", "64:ff9b:1::203.0.113.7"),
            ("203.0.113.7", "::ffff:0:203.0.113.7"),
            ("203.0.113.7", "2002:cb00:7107::1"),
            ("64:ff9b:1::203.0.113.7", "203.0.113.7"),
            ("::ffff:0:203.0.113.0/120", "203.0.113.7"),
            ("2002:cb00:7107::1", "2002:cb00:7107::1"),
            ("2002:cb00:7107::/48", "2002:cb00:7107:1::1"),
        ] {
            let how = ClientIp::behind([trusted]).unwrap();
            assert_eq!(find(&how, proxy, &["1.1.1.1"]), "1.1.1.1", "{trusted} {proxy}");
        }
        for (trusted, other) in [
            ("10.0.0.0/8", "2002:a00:5::1"),
            ("127.0.0.1", "2002:7f00:1::1"),
            // No more than what is written.
            ("2002:cb00:7107:1::/64", "203.0.113.7"),
            ("2002:cb00:7107:1::/64", "2002:cb00:7107:2::1"),
        ] {
            let how = ClientIp::behind([trusted]).unwrap();
            assert_ne!(find(&how, other, &["1.1.1.1"]), "1.1.1.1", "{trusted} {other}");
        }
    }

    #[test]
    fn networks_of_everybody_are_refused() {
        for networks in [
            &["0.0.0.0/0"][..],
            &["::/0"],
            &["10.0.0.1", "0.0.0.0/0"],
            &["64:ff9b::/96"],
            &["64:ff9b:1::/96"],
            &["64:ff9b:1:2::/64"],
            &["64:ff9b:1::/48"],
            &["::ffff:0:0/96"],
            &["::ffff:0:0:0/96"],
            &["::/64"],
            &["2002::/16"],
            &["2001::/32"],
            &["2000::/3"],
            &["0.0.0.0/1", "128.0.0.0/1"],
            &["::ffff:0.0.0.0/97", "64:ff9b::128.0.0.0/97"],
            &["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/3"],
            &["::/1", "8000::/1"],
            &["2000::/4", "3000::/4"],
        ] {
            let Err(error @ ConfigError::TrustsEverybody { .. }) = ClientIp::behind(networks)
            else {
                panic!("{networks:?}")
            };
            let is_named = |network: &&str| error.to_string().contains(&format!("`{network}`"));
            assert!(networks.iter().any(is_named), "{error}");
        }
        for networks in [
            &["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"][..],
            &["0.0.0.0/1"],
            &["2001:db8::/32"],
            &["::1", "127.0.0.0/8"],
        ] {
            assert!(ClientIp::behind(networks).is_ok(), "{networks:?}");
        }
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
        assert_eq!(find(&how.clone().with_forwarded(), "10.0.0.5", &["proto=https"]), "10.0.0.5");
    }

    #[test]
    fn networks_are_checked() {
        for networks in [["10.0.0.0/33"], ["ten"], [""], ["10.0.0.0/8,"]] {
            let Err(ConfigError::Network { entry }) = ClientIp::behind(networks) else {
                panic!("{networks:?}")
            };
            assert_eq!(&*entry, networks[0]);
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
