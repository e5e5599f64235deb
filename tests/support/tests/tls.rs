//! Servers speak TLS to those who trust their authority.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Once;
use std::time::Duration;

use redis::{Client, ClientTlsConfig, RedisResult, TlsCertificates};
use test_support::{Flavor, Proxy, Server, Tls};

fn ping(url: &str, trusted: &Tls, own: Option<&Tls>) -> RedisResult<String> {
    static PROVIDER: Once = Once::new();
    // The `redis` crate leaves it to its users to choose one.
    PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
    let client_tls = own.map(|tls| ClientTlsConfig {
        client_cert: tls.client_pem().as_bytes().to_vec(),
        client_key: tls.client_key_pem().as_bytes().to_vec(),
    });
    let root_cert = Some(trusted.ca_pem().as_bytes().to_vec());
    let client = Client::build_with_tls(url, TlsCertificates { client_tls, root_cert })?;
    let patience = Duration::from_secs(5);
    redis::cmd("PING").query(&mut client.get_connection_with_timeout(patience)?)
}

#[test]
fn every_server_speaks_tls_beside_the_plain_protocol() {
    let tls = Tls::new();
    for flavor in Flavor::ALL {
        let mut server = Server::builder(flavor).tls(&tls).start();
        assert!(server.tls_url().starts_with("rediss://localhost:"));
        assert_eq!(ping(&server.tls_url(), &tls, None).unwrap(), "PONG");
        assert_eq!(server.command::<String>(&["PING"]), "PONG");
        server.kill();
        server.start_again();
        assert_eq!(ping(&server.tls_url(), &tls, None).unwrap(), "PONG");
        // Whom nobody trusts nobody talks to.
        let why = ping(&server.tls_url(), &Tls::new(), None).unwrap_err();
        assert!(why.to_string().contains("UnknownIssuer"), "{why}");
    }
}

#[test]
fn a_server_can_insist_on_a_certificate_of_the_client() {
    let tls = Tls::new();
    for flavor in Flavor::ALL {
        let strict = Server::builder(flavor).tls(&tls).option("tls-auth-clients", "yes").start();
        let why = ping(&strict.tls_url(), &tls, None).unwrap_err();
        assert!(why.to_string().contains("CertificateRequired"), "{why}");
        let why = ping(&strict.tls_url(), &tls, Some(&Tls::new())).unwrap_err();
        assert!(why.to_string().contains("UnknownCA"), "{why}");
        assert_eq!(ping(&strict.tls_url(), &tls, Some(&tls)).unwrap(), "PONG");
    }
}

#[test]
fn a_server_of_another_name_is_not_the_one() {
    let tls = Tls::naming(&["elsewhere.example"]);
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    let why = ping(&server.tls_url(), &tls, None).unwrap_err();
    assert!(why.to_string().contains("elsewhere.example"), "{why}");
}

#[test]
fn it_goes_through_a_proxy_and_asks_for_a_login() {
    let tls = Tls::new();
    let server = Server::builder(Flavor::Redis8).tls(&tls).login("app", "w0rd").start();
    let url = server.tls_url();
    assert!(url.starts_with("rediss://app:w0rd@localhost:"), "{url}");
    let proxy = Proxy::to(server.tls_port());
    let behind = url.replace(&server.tls_port().to_string(), &proxy.port().to_string());
    assert_eq!(ping(&behind, &tls, None).unwrap(), "PONG");
    assert!(proxy.replies().bytes() > 0);
}
