//! Over TLS.

use std::time::{Duration, Instant};

use ratelimit_kit::{Check, Limiter, LimiterBuilder, Rule, StoreError};
use rustls::crypto::{CryptoProvider, ring};
use test_support::{Cluster, Flavor, Link, Node, Proxy, Server, Tls, unique};

use crate::support::calls::{Call, Told};
use crate::support::ground::{alone, until};
use test_stage::algorithms::{HOUR, Kind, ms, rule, secs};
use test_stage::stage::{block_on, on};

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

/// Which cryptography a process uses is for the application to say, before or after it has a limiter.
/// In processes of their own, since they can say it once.
#[test]
fn b134_the_choice_of_cryptography_stays_the_applications() {
    if let Some(link) = Link::attach() {
        return b134_node(link);
    }
    let _alone = alone();
    let tls = Tls::new();
    let server = Server::builder(Flavor::Redis8).tls(&tls).start();
    let sentinels = format!("rediss+sentinel://localhost:{}/main", server.tls_port());
    let cluster = Cluster::of(&Server::builder(Flavor::Redis8).tls(&tls));
    for url in [server.tls_url(), cluster.tls_url(), sentinels] {
        for order in ["before", "after", "never"] {
            let mut node =
                Node::start("tls::b134_the_choice_of_cryptography_stays_the_applications");
            for line in [order, &url, tls.ca_file().to_str().unwrap()] {
                node.send(line);
            }
            assert_eq!(node.recv(), "the choice was the application's", "{order}: {url}");
        }
    }
}

fn b134_node(mut link: Link) {
    let [order, url, roots] = [(); 3].map(|()| link.recv().unwrap());
    // Not the product's: it knows one suite only.
    let own = || {
        let mut provider = ring::default_provider();
        provider.cipher_suites.truncate(1);
        provider
    };
    if order == "before" {
        own().install_default().unwrap();
    }
    let limiter = on(url.clone()).redis_roots_file(roots).build().unwrap();
    let ready = block_on(limiter.ready());
    if url.contains("sentinel") {
        // It is none, but it was spoken to.
        let error = ready.unwrap_err();
        assert!(matches!(error, StoreError::Server { .. }), "{error:?}");
    } else {
        ready.unwrap();
        assert_eq!(told(&limiter), Told::Admitted);
    }
    match order.as_str() {
        "before" => assert_eq!(CryptoProvider::get_default().unwrap().cipher_suites.len(), 1),
        "after" => own().install_default().unwrap(),
        _ => assert!(CryptoProvider::get_default().is_none()),
    }
    link.send("the choice was the application's");
}

/// Files are read for every connection: what they hold may change.
#[test]
fn certificates_in_files_may_be_renewed() {
    let (old, new) = (Tls::new(), Tls::new());
    let folder = std::env::temp_dir();
    let file = |name: &str| folder.join(unique(name));
    let (roots, certificate, key) = (file("roots"), file("certificate"), file("key"));
    let write = |tls: &Tls| {
        std::fs::write(&roots, tls.ca_pem()).unwrap();
        std::fs::write(&certificate, tls.client_pem()).unwrap();
        std::fs::write(&key, tls.client_key_pem()).unwrap();
    };
    write(&old);
    let strict = Server::builder(Flavor::Installed).tls(&new).option("tls-auth-clients", "yes");
    let strict = strict.start();
    let limiter = on(strict.tls_url())
        .redis_roots_file(&roots)
        .redis_identity_files(&certificate, &key)
        .build()
        .unwrap();
    let error = block_on(limiter.ready()).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
    // A certificate that does not fit is not tried over and over, and a new one soon.
    std::thread::sleep(secs(4));
    write(&new);
    until(secs(3), "the new certificates are used", || told(&limiter) == Told::Admitted);
    for file in [&roots, &certificate, &key] {
        std::fs::remove_file(file).unwrap();
    }
    let error = on(strict.tls_url()).redis_roots_file(&roots).build().unwrap_err().to_string();
    assert!(error.contains("the file with the root certificates cannot be read"), "{error}");
    let builder = on(strict.tls_url()).redis_identity(old.client_pem(), new.client_key_pem());
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("the client's key does not fit its certificate"), "{error}");
}

/// A certificate that does not fit is tried at 0, 1 and 3 s.
#[test]
fn a_wrong_certificate_is_tried_rarely() {
    let tls = Tls::new();
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    let proxy = Proxy::to(server.tls_port());
    let url = format!("rediss://localhost:{}/", proxy.port());
    let limiter = on(url).redis_roots(Tls::new().ca_pem()).build().unwrap();
    block_on(limiter.ready()).unwrap_err();
    std::thread::sleep(secs(3));
    let made = proxy.connections().len();
    assert!((2..=4).contains(&made), "{made} connections");
}
