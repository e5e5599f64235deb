//! What must not be said.

use std::error::Error;
use std::fmt::Write as _;

use ratelimit_kit::{Check, Limiter, OnError, RateLimitError, RedisCredentials};
use test_support::{Flavor, Link, Log, Node, Reply, Server, Stub};

use crate::support::calls::{block_on, window};

const USER: &str = "app";
const PASSWORD: &str = "S3cr3t!pw";

/// The password is in no error, however it is shown, in no `Debug` of what knows it, and in no line
/// of the log; the address is in the errors. In a process of its own, since the log is the process's.
#[test]
fn b107_password_never_appears_in_errors_or_logs() {
    if let Some(link) = Link::attach() {
        return b107_node(link);
    }
    let mut node = Node::start("secrets::b107_password_never_appears_in_errors_or_logs");
    assert_eq!(node.recv(), "nothing was said");
}

fn b107_node(mut link: Link) {
    let log = Log::start();

    let rejects = Server::builder(Flavor::Installed).login(USER, "another one").start();
    let rejects_old = Stub::start(|words| match words[0].as_slice() {
        b"AUTH" | b"HELLO" => {
            Reply::error("WRONGPASS invalid username-password pair or user is disabled.")
        }
        _ => Reply::error("NOAUTH Authentication required."),
    });
    // No server should, but one that says it again must not make us say it.
    let echoes = Stub::start(|words| {
        let said: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word)).collect();
        Reply::error(&format!("ERR unknown command: {}", said.join(" ")))
    });
    let closes = Stub::start(|words| match words[0].as_slice() {
        b"AUTH" | b"HELLO" => Reply::Close,
        _ => Reply::Usual,
    });
    let lets_in = Stub::start(|words| match words[0].as_slice() {
        b"EVALSHA" => Reply::Close,
        _ => Reply::Usual,
    });
    let mut places: Vec<(u16, &str)> = vec![(1, "")];
    for port in [rejects.port(), rejects_old.port(), echoes.port(), closes.port(), lets_in.port()] {
        places.extend([(port, ""), (port, "?protocol=resp3")]);
    }
    for scheme in ["redis", "redis+cluster"] {
        for (port, query) in &places {
            let url = format!("{scheme}://{USER}:S3cr3t%21pw@127.0.0.1:{port}/0{query}");
            let said = said_by(&url);
            says_nothing(&said);
            let address = format!("127.0.0.1:{port}");
            assert!(said.contains(&address), "{url}: no {address} in\n{said}");
        }
    }
    // Of a URL that cannot be read nothing is told at all.
    for url in [
        "redis://app:S3cr3t%21pw@host:port",
        "redis://app:S3cr3t!pw@[::1",
        "rediss+sentinel://app:S3cr3t!pw@host?sentinel_password=S3cr3t!pw",
        "S3cr3t!pw",
    ] {
        let builder = Limiter::builder().redis(url);
        says_nothing(&format!("{builder:?} {builder:#?}"));
        let error = builder.build().unwrap_err();
        says_nothing(&shown(&error));
    }

    let logged = log.text();
    says_nothing(&logged);
    assert!(logged.contains("rate limit store unavailable"), "{logged}");
    assert!(logged.contains("127.0.0.1:1: connection refused"), "{logged}");
    link.send("nothing was said");
}

#[track_caller]
fn says_nothing(text: &str) {
    for secret in ["S3cr3t%21pw", PASSWORD, "S3cr3t", "another one"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
}

/// All that a limiter on this URL says: itself, its errors, before it has connected and after.
fn said_by(url: &str) -> String {
    let builder = Limiter::builder().redis(url).on_error(OnError::Closed);
    let mut said = format!("{builder:?} {builder:#?}");
    let limiter = builder.build().unwrap();
    write!(said, "{limiter:?} {limiter:#?}").unwrap();
    if let Err(error) = block_on(limiter.ready()) {
        said.push_str(&shown(&error));
    }
    let rule = window(5);
    for number in 0..10 {
        let check = Check::new(&rule, "key");
        let error = if number % 2 == 0 {
            limiter.check_blocking(&check).unwrap_err()
        } else {
            block_on(limiter.check(&check)).unwrap_err()
        };
        let RateLimitError::Unavailable(unavailable) = &error else { panic!("{error}") };
        write!(said, "{unavailable:?} {:?}", unavailable.cause()).unwrap();
        said.push_str(&shown(&error));
    }
    said
}

/// An error in every way in which it can be shown, with its sources.
fn shown(error: &dyn Error) -> String {
    let mut all = format!("{error} {error:#} {error:?} {error:#?}\n");
    let mut source = error.source();
    while let Some(error) = source {
        writeln!(all, "{error} {error:#} {error:?} {error:#?}").unwrap();
        source = error.source();
    }
    all
}

/// Whatever the way in which servers are named, and whatever the password: it is in no value that can
/// be shown, neither as it is nor as it stands in the URL. Of a URL that is wrong the part is named.
#[test]
fn b108_no_value_shows_a_password_and_errors_name_the_wrong_part() {
    // All of `@ : / # % !`, as they are and as they are written.
    const PLAIN: &str = "S3cr3t@:/#%!";
    const WRITTEN: &str = "S3cr3t%40%3A%2F%23%25!";
    let hides = |text: &str| {
        for secret in [PLAIN, WRITTEN, "S3cr3t", "0ther"] {
            assert!(!text.contains(secret), "{secret} in\n{text}");
        }
    };
    for url in [
        format!("redis://app:{WRITTEN}@127.0.0.1:1/2"),
        format!(
            "redis+sentinel://app:{WRITTEN}@127.0.0.1:1,127.0.0.1:2/main?sentinel_password=0ther"
        ),
        format!("redis+cluster://app:{WRITTEN}@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"),
        format!("unix:///nowhere?user=app&pass={WRITTEN}"),
        #[cfg(feature = "tls")]
        format!("rediss://app:{WRITTEN}@127.0.0.1:1"),
    ] {
        let credentials = RedisCredentials::new("app", PLAIN);
        hides(&format!("{credentials:?} {credentials:#?}"));
        let builder = Limiter::builder()
            .redis(&url)
            .key_secret(PLAIN)
            .redis_sentinel_credentials(move || Some(credentials.clone()));
        hides(&format!("{builder:?} {builder:#?}"));
        let limiter = builder.build().unwrap_or_else(|error| panic!("{url}: {error}"));
        hides(&format!("{limiter:?} {limiter:#?}"));
        let error = block_on(limiter.ready()).unwrap_err();
        hides(&shown(&error));
    }
    for (url, named) in [
        ("redis://app:pw1S3cr3t@host:notaport", "port"),
        ("redis//app:pw2S3cr3t@host", "must begin with redis://"),
        ("redis://app:S3cr3t#x@host", "`#` in a user, password or path is written %23"),
        ("redis://app:S3cr3t/x@host", "`/` in a user, password or path is written %2F"),
        ("redis+cluster://app:S3cr3t@a,b:S3cr3t,c", "port of host 2 of 3"),
        ("redis+sentinel://app:S3cr3t@a", "name of the primary"),
        ("redis://app:S3cr3t@host/S3cr3t", "database"),
    ] {
        let error = Limiter::builder().redis(url).build().unwrap_err();
        assert!(error.to_string().contains(named), "{url}: {error}");
        let said = shown(&error);
        hides(&said);
        assert!(!said.contains("app:"), "{said}");
    }
}
