//! Over TLS.

use std::time::{Duration, Instant};

use ratelimit_kit::{Check, Limiter, LimiterBuilder, Rule, StoreError};
use test_support::{Cluster, Flavor, Proxy, Server, Tls};

use crate::algorithms::{HOUR, Kind, ms, rule, secs};
use crate::calls::{Call, Told};
use crate::ground::alone;
use crate::stage::{block_on, on};

fn five() -> Rule {
    rule(Kind::FixedWindow.per(5, HOUR))
}

fn told(limiter: &Limiter) -> Told {
    Call::make(limiter, &[Check::new(&five(), "key")]).told
}

/// Why it cannot be used.
fn why(builder: LimiterBuilder) -> StoreError {
    let limiter = builder.build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err();
    assert!(matches!(told(&limiter), Told::Failed(_)));
    error
}

#[test]
fn servers_are_trusted_by_roots_of_ones_own() {
    let tls = Tls::new();
    for flavor in Flavor::ALL {
        let server = Server::builder(flavor).tls(&tls).login("app", "w0rd").start();
        let url = server.tls_url();
        let limiter = on(url.clone()).redis_roots(tls.ca_pem()).build().unwrap();
        block_on(limiter.ready()).unwrap();
        assert_eq!(told(&limiter), Told::Admitted);

        // Not by another authority, and not by those of the system.
        for builder in [on(url.clone()).redis_roots(Tls::new().ca_pem()), on(url)] {
            let error = why(builder).to_string();
            let reason = "invalid peer certificate: UnknownIssuer";
            let expected = format!("localhost:{} over TLS: {reason}", server.tls_port());
            assert!(error.contains(&expected), "{error}");
            assert!(!error.contains("w0rd"), "{error}");
        }
    }
}

#[test]
fn a_server_of_another_name_is_not_the_one() {
    let tls = Tls::naming(&["elsewhere.example"]);
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    let error = why(on(server.tls_url()).redis_roots(tls.ca_pem())).to_string();
    assert!(error.contains("localhost") && error.contains("elsewhere.example"), "{error}");
}

#[test]
fn a_client_shows_who_it_is() {
    let tls = Tls::new();
    for flavor in Flavor::ALL {
        let strict = Server::builder(flavor).tls(&tls).option("tls-auth-clients", "yes").start();
        let to_it = || on(strict.tls_url()).redis_roots(tls.ca_pem());
        let known = to_it().redis_identity(tls.client_pem(), tls.client_key_pem());
        let limiter = known.build().unwrap();
        block_on(limiter.ready()).unwrap();
        assert_eq!(told(&limiter), Told::Admitted);

        let other = Tls::new();
        let stranger = to_it().redis_identity(other.client_pem(), other.client_key_pem());
        for builder in [to_it(), stranger] {
            let error = why(builder).to_string();
            assert!(
                error.contains(&format!(":{} over TLS: received fatal alert", strict.tls_port())),
                "{error}"
            );
        }
    }
}

/// TLS where there is none, and none where there is.
#[test]
fn the_wrong_port_is_an_error() {
    let tls = Tls::new();
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    let plain = format!("rediss://localhost:{}/", server.port());
    let secret = format!("redis://localhost:{}/", server.tls_port());
    for (url, port) in [(plain, server.port()), (secret, server.tls_port())] {
        let start = Instant::now();
        let error = why(on(url).redis_roots(tls.ca_pem()));
        assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
        assert!(error.to_string().contains(&port.to_string()), "{error}");
        assert!(start.elapsed() < secs(3), "{:?}", start.elapsed());
    }
}

/// A handshake may take longer than a check, and calls meanwhile no longer than theirs.
#[test]
fn a_slow_handshake_is_not_cut() {
    const DEADLINE: Duration = ms(300);
    let tls = Tls::new();
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    let proxy = Proxy::to(server.tls_port());
    let url = format!("rediss://localhost:{}/", proxy.port());
    // Half a round trip, of which it takes at least three.
    proxy.requests().delay(ms(70));
    proxy.replies().delay(ms(70));
    let limiter = on(url).redis_roots(tls.ca_pem()).deadline(DEADLINE).build().unwrap();
    let start = Instant::now();
    let call = Call::make(&limiter, &[Check::new(&five(), "key")]);
    assert!(matches!(call.told, Told::Failed(_)), "{call:?}");
    assert!(call.took < DEADLINE + ms(200), "{call:?}");
    block_on(limiter.ready()).unwrap();
    assert!(start.elapsed() > DEADLINE, "{:?}", start.elapsed());
    proxy.pass();
    assert_eq!(told(&limiter), Told::Admitted);
    assert_eq!(proxy.connections().len(), 1);
}

/// The nodes of a cluster name each other, and are reached over TLS like the first one.
#[test]
fn a_cluster_over_tls() {
    let _alone = alone();
    let tls = Tls::new();
    let cluster = Cluster::of(&Server::builder(Flavor::Redis8).tls(&tls).login("app", "w0rd"));
    let limiter = on(cluster.tls_url()).redis_roots(tls.ca_pem()).build().unwrap();
    block_on(limiter.ready()).unwrap();
    for _ in 0..20 {
        assert_eq!(told(&limiter), Told::Admitted);
    }
    let error = why(on(cluster.tls_url()).redis_roots(Tls::new().ca_pem())).to_string();
    assert!(error.contains("certificate"), "{error}");
}
