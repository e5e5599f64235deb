//! Sentinels find each other, fail over, and can have passwords.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use test_support::{Flavor, Sentinels, Server};

/// Why a client is turned away that does not say who it is.
fn anonymous(server: &Server) -> String {
    let client = redis::Client::open(("127.0.0.1", server.port())).unwrap();
    let answer = client
        .get_connection()
        .and_then(|mut connection| redis::cmd("PING").query::<String>(&mut connection));
    answer.map_or_else(|e| e.code().unwrap_or_default().to_owned(), |_| "OK".to_owned())
}

#[test]
fn the_replica_takes_over_in_good_order() {
    let sentinels = Sentinels::start(Flavor::Installed);
    let [old, new] = sentinels.servers() else { panic!("there are two") };
    assert_eq!(sentinels.primary(), 0);
    assert_eq!(anonymous(&sentinels.sentinels()[0]), "OK");
    old.command::<()>(&["SET", "kept", "1"]);
    old.command::<()>(&["WAIT", "1", "1000"]);

    sentinels.failover();
    assert_eq!(sentinels.primary(), 1);
    assert_eq!(new.command::<u8>(&["GET", "kept"]), 1);
    new.command::<()>(&["SET", "kept", "2"]);

    sentinels.settle();
    let refused = old.try_command::<()>(&["SET", "kept", "3"]).unwrap_err();
    assert_eq!(refused.code(), Some("READONLY"));
    assert_eq!(old.command::<u8>(&["GET", "kept"]), 2);
}

// A test of its own for each: they wait most of the time, and can do so together.

#[test]
fn the_replica_of_a_killed_redis_7_takes_over() {
    the_replica_takes_over_without(Flavor::Installed);
}

#[test]
fn the_replica_of_a_killed_redis_8_takes_over() {
    the_replica_takes_over_without(Flavor::Redis8);
}

#[test]
fn the_replica_of_a_killed_valkey_8_takes_over() {
    the_replica_takes_over_without(Flavor::Valkey8);
}

fn the_replica_takes_over_without(flavor: Flavor) {
    let mut sentinels = Sentinels::start(flavor);
    // Two of three are enough, and the third comes back with what it knew.
    sentinels.sentinel(0).kill();
    sentinels.server(0).kill();
    sentinels.settle();
    assert_eq!(sentinels.primary(), 1);
    sentinels.sentinel(0).start_again();
    sentinels.settle();
    assert_eq!(sentinels.primary(), 1);
    assert_eq!(sentinels.servers()[1].info("role"), "master");
}

#[test]
fn servers_and_sentinels_have_logins_of_their_own() {
    for flavor in Flavor::ALL {
        let sentinels = Sentinels::builder(flavor)
            .server_login("app", "s3cret%21")
            .sentinel_login("watch", "w0rd")
            .start();
        for process in sentinels.servers().iter().chain(sentinels.sentinels()) {
            assert_eq!(anonymous(process), "NOAUTH");
        }
        assert!(sentinels.urls().iter().all(|url| url.starts_with("redis://watch:w0rd@")));
        sentinels.failover();
        assert_eq!(sentinels.primary(), 1);
        let url = sentinels.servers()[1].url();
        assert!(url.starts_with("redis://app:s3cret%2521@"), "{url}");
        redis::cmd("SET")
            .arg("key")
            .arg(1)
            .exec(&mut redis::Client::open(url).unwrap().get_connection().unwrap())
            .unwrap();
    }
}

#[test]
fn a_login_can_be_a_password_alone() {
    let sentinels = Sentinels::builder(Flavor::Valkey8)
        .server_login("default", "one")
        .sentinel_login("default", "two")
        .start();
    let url = format!("redis://:two@127.0.0.1:{}/", sentinels.sentinels()[0].port());
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut address = redis::cmd("SENTINEL");
    address.arg("GET-MASTER-ADDR-BY-NAME").arg(sentinels.name());
    let (_, port): (String, u16) = address.query(&mut connection).unwrap();
    assert_eq!(port, sentinels.servers()[0].port());
}
