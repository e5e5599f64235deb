//! The other ways to reach one server: a socket, as a user with few rights, another database.

use ratelimit_kit::{Check, StoreError};
use test_support::{Flavor, Server, unique};

use crate::support::calls::{Call, Told};
use crate::support::ground::told_all;
use test_stage::algorithms::{HOUR, Kind, rule};
use test_stage::stage::{block_on, on};

#[test]
fn over_a_unix_socket() {
    for flavor in Flavor::ALL {
        let server = Server::builder(flavor).login("app", "w0rd%").start();
        let rule = rule(Kind::TokenBucket.per(5, HOUR));
        let check = [Check::new(&rule, "key")];
        let prefix = unique("topology");
        let url = server.unix_url();
        // Both spellings, and the same budget as by the port.
        let urls = [url.clone(), url.replace("redis+unix:", "unix:"), server.url()];
        for (n, url) in (1..).zip(urls) {
            let limiter = on(url).prefix(&prefix).build().unwrap();
            assert_eq!(told_all(limiter.check_all_blocking(&check)).1[0].remaining(), 5 - n);
        }
        let limiter = on(url.replace("w0rd", "word")).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err();
        assert!(matches!(error, StoreError::Permission { .. }), "{error:?}");
        let limiter = on(format!("unix://{}", unique("/nowhere"))).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err();
        assert!(error.to_string().contains("/nowhere"), "{error}");
    }
}

/// What a user has to be allowed: to run scripts and to upload them, and what these do.
#[test]
fn as_a_user_with_few_rights() {
    const RIGHTS: &str = "-@all +evalsha +script|load +time +get +set +del +pttl +pexpire \
                          +lindex +lrange +lset +ltrim +rpush ~limits:*";
    for flavor in Flavor::ALL {
        let server = Server::builder(flavor)
            .user("limiter", "w0rd", RIGHTS)
            .user("reader", "w0rd", "-@all +get ~*")
            .user("scripts", "w0rd", "-@all +evalsha +script|load ~*")
            .start();
        let limiter = on(server.url_of("limiter", "w0rd")).prefix("limits").build().unwrap();
        block_on(limiter.ready()).unwrap();
        for kind in Kind::ALL {
            let (first, second) = (rule(kind.per(2, HOUR)), rule(kind.per(2, HOUR)));
            let told = [(); 3].map(|()| Call::make(&limiter, &[Check::new(&first, "key")]).told);
            assert_eq!(told, [Told::Admitted, Told::Admitted, Told::Refused], "{kind:?}");
            let both = [Check::new(&second, "key"), Check::new(&first, "key")];
            assert_eq!(Call::make(&limiter, &both).told, Told::Refused);
            block_on(limiter.reset(&both[1])).unwrap();
            assert_eq!(Call::make(&limiter, &both).told, Told::Admitted);
        }
        for (url, prefix) in [
            (server.url_of("limiter", "word"), "limits"),
            (server.url_of("limiter", "w0rd"), "others"),
            (server.url_of("reader", "w0rd"), "limits"),
            (server.url_of("scripts", "w0rd"), "limits"),
        ] {
            let limiter = on(url).prefix(prefix).build().unwrap();
            let rule = rule(Kind::FixedWindow.per(2, HOUR));
            let Told::Failed(error) = Call::make(&limiter, &[Check::new(&rule, "key")]).told else {
                panic!("it has no right to")
            };
            assert!(matches!(error, StoreError::Permission { .. }), "{prefix}: {error:?}");
            assert!(!error.to_string().contains("w0rd"), "{error}");
        }
    }
}

#[test]
fn in_another_database() {
    for flavor in Flavor::ALL {
        let server = Server::start(flavor);
        let rule = rule(Kind::FixedWindow.per(5, HOUR));
        let check = [Check::new(&rule, "key")];
        let (seven, eight) = (format!("{}7", server.url()), format!("{}8", server.url()));
        let unix = format!("{}?db=7", server.unix_url());
        for (url, left) in [(&seven, 4), (&eight, 4), (&unix, 3), (&server.url(), 4)] {
            let limiter = on(url.clone()).prefix("limits").build().unwrap();
            assert_eq!(
                told_all(limiter.check_all_blocking(&check)).1[0].remaining(),
                left,
                "{url}"
            );
        }
        let mut keyspace: Vec<String> = server
            .command::<String>(&["INFO", "keyspace"])
            .lines()
            .filter_map(|line| line.split_once(":keys=1,"))
            .map(|(database, _)| database.to_owned())
            .collect();
        keyspace.sort();
        assert_eq!(keyspace, ["db0", "db7", "db8"]);
        let limiter = on(format!("{}99", server.url())).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err();
        assert!(error.to_string().contains(&server.port().to_string()), "{error}");
    }
}
