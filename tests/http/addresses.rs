//! Whose address it is, end to end. Every connection of these tests comes from the loopback
//! interface: that is the peer, or the layer is told another one.

use std::net::{IpAddr, SocketAddr};

use ratelimit_kit::{Algorithm, ClientIp, RateLimitLayer, RequestContext, Rule};

use crate::support::client::get;
use crate::support::limiter;
use crate::support::site::Site;

/// Two requests of one client pass in these tests.
fn everywhere(layer: &RateLimitLayer, test: impl Fn(&str, SocketAddr)) {
    Site::everywhere(|| Site::new(limiter(), layer.clone()), test);
}

fn from_peer(peer: &'static str, how: ClientIp) -> RateLimitLayer {
    let peer: IpAddr = peer.parse().unwrap();
    RateLimitLayer::new().client_ip(how).peer(move |_| Some(peer))
}

fn behind_ten() -> ClientIp {
    ClientIp::behind(["10.0.0.0/8"]).unwrap()
}

fn admitted(statuses: impl IntoIterator<Item = u16>) -> usize {
    statuses.into_iter().filter(|status| *status == 200).count()
}

#[test]
fn b076_what_clients_write_is_not_believed() {
    everywhere(&from_peer("10.0.0.5", behind_ten()), |framework, address| {
        let forwarded =
            |value: &str| get("/ip").header("x-forwarded-for", value).to(address).status;
        let of_one = (0..100).map(|n| forwarded(&format!("198.51.100.{n}, 203.0.113.9")));
        assert_eq!(admitted(of_one), 2, "{framework}");
        assert_eq!(forwarded("9.9.9.9, 203.0.113.10, 10.1.1.1"), 200, "{framework}");
        assert_eq!(forwarded("10.0.0.7"), 200, "{framework}");
        // The list may be in several headers.
        let several = get("/ip")
            .header("x-forwarded-for", "1.2.3.4")
            .header("X-Forwarded-For", "203.0.113.9, 10.1.1.1");
        assert_eq!(several.to(address).status, 429, "{framework}");
    });
}

#[test]
fn b077_ports_brackets_and_quotes() {
    everywhere(&from_peer("10.0.0.5", behind_ten()), |framework, address| {
        for group in [
            ["203.0.113.7:54321", "203.0.113.7:1", "203.0.113.7"],
            ["[2001:db8::1]:443", "2001:db8::1", "[2001:db8::1]"],
        ] {
            let ask = |value| get("/ip").header("x-forwarded-for", value).to(address).status;
            assert_eq!(group.map(ask), [200, 200, 429], "{framework}");
        }
        assert_eq!(get("/ip").to(address).status, 200, "{framework}: the peer's own");
    });
    everywhere(&from_peer("10.0.0.5", behind_ten().with_forwarded()), |framework, address| {
        let values = [
            r#"for="[2001:db8:5::2]:80";proto=https"#,
            r#"For="[2001:db8:5::2]""#,
            r#"proto=https;for="[2001:db8:5::2]""#,
        ];
        let ask = |value| get("/ip").header("forwarded", value).to(address).status;
        assert_eq!(values.map(ask), [200, 200, 429], "{framework}");
        let other_header = get("/ip").header("x-forwarded-for", "203.0.113.7").times(3, address);
        assert_eq!(other_header, [200, 200, 429], "{framework}: that is the peer");
    });
}

#[test]
fn b078_mapped_addresses() {
    let layer = RateLimitLayer::new()
        .client_ip(behind_ten())
        .peer(|of| of.header("x-peer").and_then(|peer| peer.parse().ok()));
    everywhere(&layer, |framework, address| {
        let peer = |peer| get("/ip").header("x-peer", peer).to(address).status;
        let one = ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"];
        assert_eq!(one.map(peer), [200, 200, 429], "{framework}");
        let others = ["::ffff:192.0.2.2", "2001:db8:1:2::1.2.3.4", "1.2.3.4"];
        assert_eq!(others.map(peer), [200, 200, 200], "{framework}");
        let proxied = |peer| {
            get("/ip").header("x-peer", peer).header("x-forwarded-for", "203.0.113.50").to(address)
        };
        let statuses =
            ["::ffff:10.0.0.5", "10.0.0.9", "::ffff:10.0.0.5"].map(|p| proxied(p).status);
        assert_eq!(statuses, [200, 200, 429], "{framework}");
    });
}

#[test]
fn b080_translated_addresses() {
    let layer = RateLimitLayer::new()
        .client_ip(behind_ten())
        .peer(|of| of.header("x-peer").and_then(|peer| peer.parse().ok()));
    everywhere(&layer, |framework, address| {
        let ask = |peer: &str| get("/ip").header("x-peer", peer).to(address).status;
        let proxied = |client: &str| {
            get("/ip")
                .header("x-peer", "10.0.0.5")
                .header("x-forwarded-for", client)
                .to(address)
                .status
        };
        // Three forms of one address, and two of another.
        assert_eq!(ask("64:ff9b::808:808"), 200, "{framework}");
        assert_eq!(ask("64:ff9b::909:909"), 200, "{framework}");
        assert_eq!(proxied("64:ff9b::8.8.8.8"), 200, "{framework}");
        for written in ["64:ff9b:1::8.8.8.8", "::ffff:0:8.8.8.8", "2002:808:808:7::1", "8.8.8.8"] {
            assert_eq!((ask(written), proxied(written)), (429, 429), "{framework} {written}");
        }
        assert_eq!(ask("9.9.9.9"), 200, "{framework}");
        assert_eq!(ask("9.9.9.9"), 429, "{framework}");
        // A proxy behind a translator.
        let translated = get("/ip").header("x-peer", "64:ff9b:1::10.0.0.5");
        assert_eq!(
            translated.header("x-forwarded-for", "7.7.7.7").times(3, address),
            [200, 200, 429]
        );
    });
}

/// A customer with a /48 has 65,536 budgets of `@ip`, and one for all of them beside.
#[test]
fn a_wider_network_has_a_budget_of_its_own() {
    let window = std::time::Duration::from_mins(1);
    let rule = |name, limit| Rule::new(name, Algorithm::FixedWindow { limit, window });
    let site = || {
        let layer = RateLimitLayer::new()
            .limiter(limiter())
            .client_ip(ClientIp::behind(["127.0.0.1"]).unwrap())
            .limit(rule("address-of-client", 2), RequestContext::ip_key)
            .limit(rule("address-of-site", 5), |context| context.ip_network_key(24, 48));
        Site::new(limiter(), layer)
    };
    Site::everywhere(site, |framework, address| {
        let ask = |client: &str| get("/free").header("x-forwarded-for", client).to(address).status;
        let one = ["2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:1::3"];
        assert_eq!(one.map(ask), [200, 200, 429], "{framework}");
        let others = ["2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:1:4::1", "2001:db8:1:5::1"];
        assert_eq!(others.map(ask), [200, 200, 200, 429], "{framework}");
        assert_eq!(ask("2001:db8:2:1::1"), 200, "{framework}");
        let v4 = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5"];
        assert_eq!(v4.map(ask), [200; 5], "{framework}");
        assert_eq!(["203.0.113.6", "203.0.114.1"].map(ask), [429, 200], "{framework}");
    });
}

#[test]
fn b082_without_trust_no_header_counts() {
    let headers = [
        "x-forwarded-for",
        "x-real-ip",
        "cf-connecting-ip",
        "true-client-ip",
        "client-ip",
        "forwarded",
    ];
    everywhere(&from_peer("198.51.100.7", ClientIp::of_peer()), |framework, address| {
        let statuses = (0..50).map(|n| {
            let value = |name: &str| match name {
                "forwarded" => format!("for=203.0.113.{n}"),
                _ => format!("203.0.113.{n}"),
            };
            let ask = headers.iter().fold(get("/ip"), |ask, name| ask.header(name, value(name)));
            ask.to(address).status
        });
        assert_eq!(admitted(statuses), 2, "{framework}");
    });
    everywhere(&from_peer("10.0.0.5", behind_ten()), |framework, address| {
        let statuses = (0..50).map(|n| {
            let other = format!("192.0.2.{n}");
            get("/ip")
                .header("x-real-ip", &other)
                .header("client-ip", &other)
                .header("forwarded", format!("for={other}"))
                .header("x-forwarded-for", "203.0.113.9")
                .to(address)
                .status
        });
        assert_eq!(admitted(statuses), 2, "{framework}");
    });
}

#[test]
fn the_real_peer_is_the_client_unless_told() {
    everywhere(&RateLimitLayer::new(), |framework, address| {
        let ask = |n: u8| get("/ip").header("x-forwarded-for", format!("203.0.113.{n}"));
        let statuses = [1, 2, 3].map(|n| ask(n).to(address).status);
        assert_eq!(statuses, [200, 200, 429], "{framework}");
    });
    // Trusted by its network, and by the number of hops.
    for how in [ClientIp::behind(["127.0.0.0/8"]).unwrap(), ClientIp::behind_hops(1)] {
        everywhere(&RateLimitLayer::new().client_ip(how), |framework, address| {
            let ask = |value: &str| get("/ip").header("x-forwarded-for", value);
            assert_eq!(
                ask("9.9.9.9, 203.0.113.1").times(3, address),
                [200, 200, 429],
                "{framework}"
            );
            assert_eq!(ask("203.0.113.1, 203.0.113.2").to(address).status, 200, "{framework}");
        });
    }
}
