//! One socket for IPv4 and IPv6: the kernel tells addresses of IPv4 in the form of IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use ratelimit_kit::{ClientIp, RateLimitLayer};

use crate::support::client::get;
use crate::support::limiter;
use crate::support::site::Site;

const BOTH: &str = "[::]:0";

/// Two requests of one client pass. The test gets where the one socket is reached over IPv4, and where
/// over IPv6.
fn everywhere(how: &ClientIp, test: impl Fn(&str, [SocketAddr; 2])) {
    the_machine_has_both();
    let layer = RateLimitLayer::new().client_ip(how.clone());
    let site = || Site { on: BOTH, ..Site::new(limiter(), layer.clone()) };
    Site::everywhere(site, |framework, address| test(framework, both(address.port())));
}

fn both(port: u16) -> [SocketAddr; 2] {
    [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(|ip: IpAddr| (ip, port).into())
}

/// Fails where there is nothing to test: a machine without IPv6 proves nothing.
fn the_machine_has_both() {
    let listener = TcpListener::bind(BOTH).expect("this test needs IPv6, and the machine has none");
    let seen = both(listener.local_addr().unwrap().port()).map(|address| {
        let _client = TcpStream::connect(address)
            .unwrap_or_else(|e| panic!("this test needs one socket for both, and {address}: {e}"));
        listener.accept().unwrap().1.ip()
    });
    assert_eq!(seen, [Ipv4Addr::LOCALHOST.to_ipv6_mapped(), Ipv6Addr::LOCALHOST]);
}

#[test]
fn b078_dual_stack_clients() {
    everywhere(&ClientIp::behind(["10.0.0.0/8"]).unwrap(), |framework, [v4, v6]| {
        let ask = |n: u8| get("/ip").header("x-forwarded-for", format!("203.0.113.{n}"));
        for address in [v4, v6] {
            let statuses = [1, 2, 3].map(|n| ask(n).to(address).status);
            assert_eq!(statuses, [200, 200, 429], "{framework} {address}");
        }
    });
}

#[test]
fn b078_dual_stack_proxies() {
    let proxies = ClientIp::behind(["127.0.0.1", "::1"]).unwrap();
    everywhere(&proxies, |framework, [v4, v6]| {
        let ask =
            |address, client: &str| get("/ip").header("x-forwarded-for", client).to(address).status;
        // Both are believed.
        let statuses = [v4, v6, v4].map(|proxy| ask(proxy, "203.0.113.50"));
        assert_eq!(statuses, [200, 200, 429], "{framework}");
        // Who is seen as `::ffff:127.0.0.1` is who another proxy writes as `127.0.0.1`.
        assert_eq!(get("/ip").to(v4).status, 200, "{framework}");
        assert_eq!(ask(v6, "127.0.0.1"), 200, "{framework}");
        assert_eq!(ask(v6, "::ffff:127.0.0.1"), 429, "{framework}");
        assert_eq!(get("/ip").to(v4).status, 429, "{framework}");
        assert_eq!(get("/ip").to(v6).status, 200, "{framework}");
    });
}

/// A proxy that is trusted as IPv4 is trusted on this socket, and its neighbour of IPv6 is not.
#[test]
fn b078_dual_stack_trust() {
    everywhere(&ClientIp::behind(["127.0.0.0/8"]).unwrap(), |framework, [v4, v6]| {
        let ask = |address, n: u8| {
            get("/ip").header("x-forwarded-for", format!("203.0.113.{n}")).to(address).status
        };
        assert_eq!([1, 2, 3].map(|n| ask(v4, n)), [200; 3], "{framework}");
        assert_eq!([1, 2, 3].map(|n| ask(v6, n)), [200, 200, 429], "{framework}");
    });
}
