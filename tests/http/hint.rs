//! What is logged when all clients seem to be one.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Barrier;
use std::thread;

use axum::http::{Request, Response};
use pollster::block_on;
use ratelimit_kit::{ClientIp, RateLimitLayer};
use test_support::Log;
use tower::{Layer, ServiceExt, service_fn};

const HINT: &str = "all requests seem to come from one private address";

/// So many requests through one layer, from four threads as a server has them; the lines about it.
fn hints(how: ClientIp, peers: [&'static str; 4]) -> Vec<String> {
    let log = Log::default();
    let layer = RateLimitLayer::new().client_ip(how);
    let all_have_asked = Barrier::new(peers.len());
    thread::scope(|scope| {
        for peer in peers {
            let (log, layer, all_have_asked) = (&log, layer.clone(), &all_have_asked);
            let peer: IpAddr = peer.parse().unwrap();
            scope.spawn(move || log.during(|| requests(&layer, peer, all_have_asked)));
        }
    });
    log.lines(HINT)
}

/// After the first, a thread waits until all have made theirs: none may be done before another begins.
fn requests(layer: &RateLimitLayer, peer: IpAddr, all_have_asked: &Barrier) {
    let service =
        layer.clone().peer(move |_| Some(peer)).layer(service_fn(|_: Request<()>| async {
            Ok::<_, Infallible>(Response::new(String::new()))
        }));
    for n in 0..1_500 {
        let claimed = format!("203.0.{}.{}", n / 250, n % 250);
        let request = Request::builder()
            .header("x-forwarded-for", &claimed)
            .header("x-real-ip", &claimed)
            .header("forwarded", format!("for={claimed}"));
        let answer = block_on(service.clone().oneshot(request.body(()).unwrap()));
        assert_eq!(answer.unwrap().status(), 200);
        if n == 0 {
            all_have_asked.wait();
        }
    }
}

#[test]
fn b082_one_private_address_is_told_once() {
    for peer in ["10.0.0.5", "192.168.1.1", "127.0.0.1", "::ffff:10.0.0.5", "fd00::1"] {
        let told = hints(ClientIp::of_peer(), [peer; 4]);
        assert_eq!(told.len(), 1, "{peer}: {told:?}");
        let address = peer.trim_start_matches("::ffff:");
        let says = |what: &str| assert!(told[0].contains(what), "{what}: {told:?}");
        says(" WARN ");
        says(&format!("address={address}"));
        says("no proxy is trusted");
    }
    // Trusted proxies, and not the one that asks.
    let told = hints(ClientIp::behind(["10.0.0.0/8"]).unwrap(), ["192.168.1.1"; 4]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("check which are trusted"), "{told:?}");
}

#[test]
fn b082_where_clients_are_told_apart_nothing_is_told() {
    let none = [""; 0];
    assert_eq!(hints(ClientIp::of_peer(), ["203.0.113.7"; 4]), none, "a public one");
    assert_eq!(hints(ClientIp::of_peer(), ["2001:db8::1"; 4]), none, "a public one of IPv6");
    let two = ["10.0.0.5", "10.0.0.5", "10.0.0.6", "10.0.0.5"];
    assert_eq!(hints(ClientIp::of_peer(), two), none, "two");
    // A proxy that is trusted tells of many.
    let behind = ClientIp::behind(["10.0.0.0/8"]).unwrap();
    assert_eq!(hints(behind, ["10.0.0.5"; 4]), none, "a proxy");
}
