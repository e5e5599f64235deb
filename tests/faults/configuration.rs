//! What is set up wrong: one clear error each, that says which server and what is wrong with it, and
//! no secret.

use std::net::TcpListener;

use ratelimit_kit::{LimiterBuilder, Rule};
use test_support::{Flavor, Reply, Server, Stub};

use crate::support::calls::{Told, block_on, call, connected, on, window};

const PASSWORD: &str = "S3cr3t!pw";

/// Of a server that cannot be used `ready` and every call say so in these words.
#[track_caller]
fn says(builder: LimiterBuilder, expected: &str) {
    says_one_of(builder, &[expected.to_owned()]);
}

#[track_caller]
fn says_one_of(builder: LimiterBuilder, expected: &[String]) {
    let limiter = builder.build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err();
    assert!(expected.contains(&error.to_string()), "{error}");
    assert!(!format!("{error:?}").contains("S3cr3t"), "{error:?}");
    let rule = window(5);
    for _ in 0..3 {
        let Told::Failed(of_call) = call(&limiter, &rule, "key") else { panic!("{error}") };
        assert!(expected.contains(&of_call.to_string()), "{of_call}");
    }
}

#[test]
fn a_wrong_login() {
    for flavor in Flavor::ALL {
        let server = Server::builder(flavor).login("app", PASSWORD).start();
        let address = format!("127.0.0.1:{}", server.port());
        let refused = format!(
            "the store refuses permission or authentication: {address}: the login is refused"
        );
        says(on(server.url_of("app", "S3cr3t")), &refused);
        says(on(server.url_of("S3cr3t", PASSWORD)), &refused);
        let needed = format!(
            "the store refuses permission or authentication: {address}: NOAUTH: a login is needed"
        );
        says(on(format!("redis://{address}")), &needed);
        connected(on(server.url()));
    }
}

#[test]
fn a_wrong_port() {
    says(
        on(format!("redis://app:{PASSWORD}@127.0.0.1:1")),
        "the store cannot be reached: 127.0.0.1:1: connection refused",
    );
}

#[test]
fn a_wrong_name() {
    let limiter = on("redis://no.such.host.invalid").build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err().to_string();
    let expected = "the store cannot be reached: no.such.host.invalid:6379: failed to lookup";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_wrong_database() {
    let server = Server::start(Flavor::Installed);
    let port = server.port();
    says(
        on(format!("{}99", server.url())),
        &format!("the store cannot be used: 127.0.0.1:{port}: DB index is out of range"),
    );
}

/// A web server answers to everything that it does not understand it.
#[test]
fn a_server_of_another_kind() {
    let answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let stub = Stub::start(|_| Reply::Raw(answer.as_bytes().to_vec()));
    let port = stub.port();
    says(
        on(stub.url()),
        &format!("the store cannot be used: 127.0.0.1:{port} does not answer as Redis does"),
    );
}

#[test]
fn an_old_server() {
    let stub = Stub::start(|words| match words[0].as_slice() {
        b"INFO" => Reply::bulk("# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n"),
        _ => Reply::Usual,
    });
    let port = stub.port();
    let expected = format!(
        "the store cannot be used: 127.0.0.1:{port} is Redis 6.2.14, and 7.0 or newer is needed"
    );
    says(on(stub.url()), &expected);
}

#[test]
fn a_server_that_is_full_of_clients() {
    let server = Server::builder(Flavor::Installed).option("maxclients", "1").start();
    let first = server.connect();
    let port = server.port();
    let expected =
        format!("the store cannot be used: 127.0.0.1:{port}: max number of clients reached");
    says(on(server.url()), &expected);
    drop(first);
}

#[test]
fn a_replica() {
    for flavor in Flavor::ALL {
        let primary = Server::start(flavor);
        let of = format!("127.0.0.1 {}", primary.port());
        let replica = Server::builder(flavor).option("replicaof", &of).start();
        let port = replica.port();
        let expected = format!(
            "the store cannot be used: 127.0.0.1:{port} is a replica, and a primary is needed"
        );
        says(on(replica.url()), &expected);
    }
}

/// Users may lack the command, both ways to upload the scripts, the keys, or what a script does.
#[test]
fn a_user_without_permission() {
    let prefix = "the store refuses permission or authentication:";
    let rules = [
        ("~* &* +@all -evalsha", "NOPERM: the user lacks EVALSHA"),
        (
            "~* &* +@all -script -eval",
            "NOPERM: the user lacks both SCRIPT LOAD and EVAL, and needs one of them",
        ),
    ];
    for flavor in Flavor::ALL {
        for (rules, lacks) in rules {
            let server = Server::builder(flavor).user("app", PASSWORD, rules).start();
            let address = format!("127.0.0.1:{}", server.port());
            let expected = format!("{prefix} {address}: {lacks}");
            says(on(server.url_of("app", PASSWORD)), &expected);
        }
        let server = Server::builder(flavor).user("app", PASSWORD, "~* +evalsha +script|load");
        let server = server.start();
        let expected = [
            // `ready`.
            "NOPERM: the user lacks TIME, GET, SET, DEL, PTTL, PEXPIRE, LINDEX, LRANGE, LSET, LTRIM, \
             RPUSH, which the scripts use",
            // Calls, where the server says it; and where it does not.
            "the user lacks TIME, which the scripts use",
            "the user lacks EVALSHA, SCRIPT LOAD (or EVAL), a command of the scripts or access to \
             the keys",
        ]
        .map(|lacks| format!("{prefix} 127.0.0.1:{}: {lacks}", server.port()));
        says_one_of(on(server.url_of("app", PASSWORD)), &expected);
    }
}

/// Which keys a user may use shows when a call uses one.
#[test]
fn a_user_without_permission_for_some_keys() {
    for flavor in Flavor::ALL {
        let rules = "~*:good:* +@all";
        let server = Server::builder(flavor).user("app", PASSWORD, rules).start();
        let limiter = connected(on(server.url_of("app", PASSWORD)));
        let [good, bad] =
            ["good", "bad"].map(|name| Rule::new(name, window(5).algorithm().unwrap()));
        assert_eq!(call(&limiter, &good, "key"), Told::Admitted(4));
        let Told::Failed(error) = call(&limiter, &bad, "key") else { panic!("decided") };
        let expected = format!(
            "the store refuses permission or authentication: 127.0.0.1:{}: \
             NOPERM: the user lacks access to the keys",
            server.port()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(call(&limiter, &good, "key"), Told::Admitted(3));
    }
}

/// Who may neither ask for `INFO` nor for `PING` may decide all the same.
#[test]
fn a_user_with_no_more_than_it_takes() {
    for flavor in Flavor::ALL {
        // As docs/redis.md has it, without what can be left out.
        let rules = "~redis* -@all +evalsha +script|load +time +get +set +del +pttl +pexpire \
                     +lindex +lrange +lset +ltrim +rpush";
        let server = Server::builder(flavor).user("app", PASSWORD, rules).start();
        let limiter = connected(on(server.url_of("app", PASSWORD)));
        assert_eq!(call(&limiter, &window(5), "key"), Told::Admitted(4));
    }
}

#[cfg(feature = "tls")]
mod tls {
    use test_support::Tls;

    use super::*;
    use crate::support::wait::secs;

    #[test]
    fn no_tls_where_there_is_tls() {
        let server = Server::builder(Flavor::Installed).tls(&Tls::new()).start();
        let address = format!("127.0.0.1:{}", server.tls_port());
        let expected = format!(
            "the store cannot be reached: {address} ends the connection: \
             does it speak TLS (rediss://)?"
        );
        says(on(format!("redis://{address}")), &expected);
        says(on(format!("redis://app:{PASSWORD}@{address}")), &expected);
    }

    /// A server waits for the end of the first line, and not every client has one in what it says.
    #[test]
    fn tls_where_there_is_none() {
        let server = Server::start(Flavor::Installed);
        let address = format!("127.0.0.1:{}", server.port());
        let started = format!("the store cannot be reached: {address} over TLS");
        let expected = [
            format!("{started}: timed out while connecting or logging in"),
            format!("{started}: received corrupt message of type InvalidContentType"),
        ];
        let url = format!("rediss://app:{PASSWORD}@{address}");
        says_one_of(on(url).connect_timeout(secs(1)), &expected);
    }

    #[test]
    fn a_certificate_that_nobody_vouches_for() {
        let server = Server::builder(Flavor::Installed).tls(&Tls::new()).start();
        let expected = format!(
            "the store cannot be reached: localhost:{} over TLS: \
             invalid peer certificate: UnknownIssuer",
            server.tls_port()
        );
        says(on(server.tls_url()).redis_roots(Tls::new().ca_pem()), &expected);
    }

    #[test]
    fn a_certificate_of_another_server() {
        let tls = Tls::naming(&["another.example"]);
        let server = Server::builder(Flavor::Installed).tls(&tls).start();
        let expected = format!(
            "the store cannot be reached: localhost:{} over TLS: \
             invalid peer certificate: certificate not valid for name \"localhost\"; \
             certificate is only valid for DnsName(\"another.example\")",
            server.tls_port()
        );
        says(on(server.tls_url()).redis_roots(tls.ca_pem()), &expected);
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn tls_that_is_not_compiled_in() {
    let error = on(format!("rediss://app:{PASSWORD}@127.0.0.1:1")).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Redis is to be reached over TLS, but the `tls` feature of ratelimit-kit is off"
    );
}

/// A port on which somebody listens and says nothing.
#[test]
fn a_server_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let timed_out = format!("the store cannot be reached: {address}: timed out while connecting");
    let url = format!("redis://app:{PASSWORD}@{address}");
    says(on(url), &format!("{timed_out} or logging in"));
    let question = "INFO (which server it is)";
    let expected = format!("the store cannot be reached: {address}: {question}: timed out");
    says(on(format!("redis://{address}")), &expected);
}
