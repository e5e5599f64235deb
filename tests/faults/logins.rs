//! Logins that are refused, and what else does not mend itself within a second: how often it is tried.
//! And passwords that change.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Degraded, Limiter, OnError, RedisCredentials, StoreError};
use test_support::{Flavor, Reply, Server, Stub, unique};

use crate::support::calls::{Told, block_on, by_default, call, connected, on, window};
use crate::support::wait::{ms, secs, until};

#[test]
fn b066_a_refused_login_is_tried_ten_times_in_ten_seconds_at_the_most() {
    const WRONG: &str = "wr0ng-S3cret";
    let server = Server::builder(Flavor::Installed).login("default", "right").start();
    // The server's own helper logs in as well.
    let before = server.calls("auth");
    let url = format!("redis://:{WRONG}@127.0.0.1:{}/", server.port());
    let limiter = by_default(url).on_error(OnError::Open).build().unwrap();
    let (start, rule) = (Instant::now(), window(5));
    let mut first = None;
    let mut said = vec![format!("{limiter:?}")];
    while start.elapsed() < secs(10) {
        let decision = block_on(limiter.check(&ratelimit_kit::Check::new(&rule, "key"))).unwrap();
        assert_eq!(decision.degraded(), Some(Degraded::Open));
        let cause = decision.cause().unwrap();
        if matches!(cause, StoreError::Permission { .. }) {
            first.get_or_insert(start.elapsed());
        }
        said.push(format!("{cause} {cause:?} {decision:?}"));
        thread::sleep(ms(10));
    }
    assert!(first.unwrap() < secs(1), "{first:?}");
    let logins = server.calls("auth") - before - 1;
    assert!((2..=10).contains(&logins), "{logins} logins");
    assert!(!said.concat().contains(WRONG));
}

/// Connections that a limiter makes to a stub in three seconds.
fn connections(stub: &Stub, url: &str) -> usize {
    let limiter = on(url).build().unwrap();
    assert!(block_on(limiter.ready()).is_err());
    thread::sleep(secs(3));
    stub.connections().len()
}

/// Tried at 0, 1 and 3 s, or a little earlier.
fn rarely(connections: usize) -> bool {
    (2..=4).contains(&connections)
}

#[test]
fn what_lasts_is_tried_rarely() {
    let info = |line: &'static str| {
        move |words: &[Vec<u8>]| match words[0].as_slice() {
            b"INFO" => Reply::bulk(line),
            _ => Reply::Usual,
        }
    };
    let too_old = Stub::start(info("redis_version:6.2.14\r\n"));
    let replica = Stub::start(info("redis_version:7.0.0\r\nrole:slave\r\n"));
    let database = Stub::start(|words| match words[0].as_slice() {
        b"SELECT" => Reply::error("ERR DB index is out of range"),
        _ => Reply::Usual,
    });
    let select = Stub::start(|words| match words[0].as_slice() {
        b"SELECT" => {
            Reply::error("NOPERM this user has no permissions to run the 'select' command")
        }
        _ => Reply::Usual,
    });
    // These mend themselves; too many clients are said in place of whatever comes first.
    let loading = Stub::start(|words| match words[0].as_slice() {
        b"INFO" => Reply::error("LOADING Redis is loading the dataset in memory"),
        _ => Reply::Usual,
    });
    let full = Stub::start(|words| match words[0].as_slice() {
        b"AUTH" | b"HELLO" | b"INFO" => Reply::error("ERR max number of clients reached"),
        _ => Reply::Usual,
    });
    let mut tasks = Vec::new();
    for (name, stub, login, database, lasts) in [
        ("too old", too_old, "", 0, true),
        ("replica", replica, "", 0, true),
        ("database", database, "", 99, true),
        ("select", select, "", 1, true),
        ("loading", loading, "", 0, false),
        ("full", full, "app:pw@", 0, false),
    ] {
        tasks.push(thread::spawn(move || {
            let url = format!("redis://{login}127.0.0.1:{}/{database}", stub.port());
            let made = connections(&stub, &url);
            assert_eq!(rarely(made), lasts, "{name}: {made} connections");
            // And it is found out when it is well again.
            stub.answer(|_| Reply::Usual);
        }));
    }
    for task in tasks {
        task.join().unwrap();
    }
}

/// Each of them is asked anew for every look at the others.
#[test]
fn a_login_that_seeds_and_sentinels_refuse_is_tried_rarely_at_each() {
    let refuse = || {
        Stub::start(|words| match words[0].as_slice() {
            b"AUTH" | b"HELLO" => Reply::error("WRONGPASS invalid username-password pair"),
            _ => Reply::error("NOAUTH Authentication required."),
        })
    };
    let (seeds, sentinels) = ([(); 3].map(|()| refuse()), [(); 3].map(|()| refuse()));
    let hosts = |stubs: &[Stub; 3]| {
        // One of them is not there, which is no reason to try the others more often.
        let hosts = stubs.iter().map(|stub| format!("127.0.0.1:{}", stub.port()));
        hosts.chain(["127.0.0.1:1".to_owned()]).collect::<Vec<_>>().join(",")
    };
    let cluster = format!("redis+cluster://app:pw@{}", hosts(&seeds));
    let sentinel = format!(
        "redis+sentinel://{}/main?sentinel_user=app&sentinel_password=pw",
        hosts(&sentinels)
    );
    let limiters = [cluster, sentinel].map(|url| on(url).build().unwrap());
    let rule = window(5);
    let start = Instant::now();
    while start.elapsed() < secs(3) {
        for limiter in &limiters {
            let Told::Failed(error) = call(limiter, &rule, "key") else { panic!("decided") };
            assert!(!error.to_string().contains("pw@"), "{error}");
        }
        thread::sleep(ms(10));
    }
    for stub in seeds.iter().chain(&sentinels) {
        let made = stub.calls("AUTH").len();
        assert!(rarely(made), "{made} logins");
    }
}

/// A server with one user, whose password is `p1`.
fn rotating() -> Server {
    Server::builder(Flavor::Installed).user("app", "p1", "~* &* +@all").start()
}

fn set_password(server: &Server, password: &str) {
    let password = format!(">{password}");
    server.command::<()>(&["ACL", "SETUSER", "app", "resetpass", &password]);
}

fn kill_clients(server: &Server) {
    let _: i64 = server.command(&["CLIENT", "KILL", "USER", "app"]);
}

/// Calls that the server decides, one every 50 ms.
fn calls_by_server(limiter: &Limiter, calls: usize) -> usize {
    let rule = window(1_000_000);
    let by_server = (0..calls).filter(|_| {
        thread::sleep(ms(50));
        call(limiter, &rule, "key").by_server()
    });
    by_server.count()
}

/// The password of the server changes, and is known at once; then it changes and is known later.
#[track_caller]
fn rotates(server: &Server, limiter: &Limiter, tell: impl Fn(&str)) {
    let rule = window(1_000_000);
    tell("p2");
    set_password(server, "p2");
    assert_eq!(calls_by_server(limiter, 20), 20);
    kill_clients(server);
    until(ms(500), "decided with p2", || call(limiter, &rule, "key").by_server());
    assert_eq!(calls_by_server(limiter, 20), 20);

    set_password(server, "p3");
    kill_clients(server);
    let logins = failed_logins(server);
    let start = Instant::now();
    let mut said = Vec::new();
    while start.elapsed() < secs(2) {
        match call(limiter, &rule, "key") {
            Told::Failed(error) => said.push(format!("{error} {error:?}\n")),
            told => panic!("{told:?}"),
        }
        thread::sleep(ms(50));
    }
    tell("p3");
    let took = until(secs(5), "decided with p3", || call(limiter, &rule, "key").by_server());
    let logins = failed_logins(server) - logins;
    assert!((1..=10).contains(&logins), "{logins} logins were refused");
    assert!(took < ms(2_500), "it is asked once a second: {took:?}");
    said.push(format!("{limiter:?}"));
    let said = said.concat();
    assert!(["p1", "p2", "p3"].iter().all(|password| !said.contains(password)), "{said}");
}

fn failed_logins(server: &Server) -> usize {
    let info: String = server.command(&["INFO", "errorstats"]);
    let mut lines = info.lines();
    let count = lines.find_map(|line| line.strip_prefix("errorstat_WRONGPASS:count="));
    count.map_or(0, |count| count.parse().unwrap())
}

#[test]
fn b133_a_password_that_rotates_comes_from_a_closure() {
    let server = rotating();
    let known = Arc::new(Mutex::new("p1".to_owned()));
    let (asked, provided) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&known));
    let count = Arc::clone(&asked);
    let builder = on(format!("redis://127.0.0.1:{}", server.port())).redis_credentials(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Some(RedisCredentials::new("app", provided.lock().unwrap().as_str()))
    });
    assert!(!format!("{builder:?}").contains("p1"));
    let limiter = connected(builder);
    rotates(&server, &limiter, |password| password.clone_into(&mut known.lock().unwrap()));
    // At each login, and once a second while they are refused.
    let asked = asked.load(Ordering::Relaxed);
    assert!((3..=12).contains(&asked), "asked {asked} times");
}

#[test]
fn b133_a_password_that_rotates_comes_from_a_file() {
    let server = rotating();
    let file = std::env::temp_dir().join(unique("password"));
    let write = |password: &str| {
        // As those who mount secrets do it: whole or not at all.
        let new = file.with_extension("new");
        fs::write(&new, format!("{password}\n")).unwrap();
        fs::rename(&new, &file).unwrap();
    };
    write("p1");
    let url = format!("redis://app@127.0.0.1:{}", server.port());
    let limiter = connected(on(&url).redis_password_file(&file));
    rotates(&server, &limiter, write);
    fs::remove_file(&file).unwrap();
    let error = on(&url).redis_password_file(&file).build().unwrap_err().to_string();
    assert_eq!(error, "the file with the password for Redis cannot be read: entity not found");
}

#[test]
fn who_has_no_credentials_does_not_connect() {
    let stub = Stub::start(|_| Reply::Usual);
    let limiter = on(stub.url()).redis_credentials(|| None).build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err();
    assert!(matches!(error, StoreError::Permission { .. }), "{error:?}");
    let expected = "there are no credentials: the closure for them returns none";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert_eq!(stub.connections().len(), 0);
}

/// A file that is gone, or blank, is named, and nothing that was in it.
#[test]
fn a_file_without_a_password_is_named() {
    let stub = Stub::start(|_| Reply::Usual);
    stub.stop();
    let file = std::env::temp_dir().join(unique("password"));
    fs::write(&file, "S3cr3t").unwrap();
    let limiter = on(stub.url()).redis_password_file(&file).build().unwrap();
    let says = |expected: &str| {
        until(secs(5), expected, || {
            let Told::Failed(error) = call(&limiter, &window(5), "key") else { panic!("decided") };
            assert!(!format!("{error} {error:?}").contains("S3cr3t"), "{error}");
            error.to_string().ends_with(expected)
        });
    };
    fs::write(&file, "\n").unwrap();
    says(&format!("there are no credentials: the file `{}` is empty", file.display()));
    fs::remove_file(&file).unwrap();
    let name = file.display();
    says(&format!("there are no credentials: the file `{name}` cannot be read: entity not found"));
}

/// A provider that hangs costs calls nothing.
#[test]
fn a_provider_that_hangs_delays_no_call() {
    let server = Server::shared(Flavor::Installed);
    let other = connected(on(server.url()));
    let hangs = on(server.url()).redis_credentials(|| {
        thread::sleep(secs(3));
        None
    });
    let hangs = hangs.build().unwrap();
    let rule = window(1_000);
    let start = Instant::now();
    while start.elapsed() < secs(2) {
        assert!(call(&other, &rule, "key").by_server());
        let before = Instant::now();
        assert!(matches!(call(&hangs, &rule, "key"), Told::Failed(_)));
        assert!(before.elapsed() < Duration::from_millis(1_500));
    }
}
