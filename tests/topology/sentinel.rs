//! The primary of the moment, as Sentinels say or as a name leads to it.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Check, Degraded, Limiter, OnError, Rule, StoreError};
use test_support::{Flavor, Log, Proxy, Sentinels, Server, unique};

use crate::support::calls::{Call, Caller, Told};
use crate::support::ground::{LONG, alone, until};
use test_stage::algorithms::{HOUR, Kind, ms, rule, secs};
use test_stage::machine;
use test_stage::stage::{block_on, on};

const MANY: u64 = 100_000;

fn many() -> Rule {
    rule(Kind::TokenBucket.per(MANY, HOUR))
}

fn admitted(limiter: &Limiter, rule: &Rule) -> bool {
    Call::make(limiter, &[Check::new(rule, "key")]).told == Told::Admitted
}

/// B061: what a node that calls all the time notices of a failover, which ends when `done` does.
/// Returns how long after that the new primary took to count.
fn through_a_failover(limiter: &Limiter, new: &Server, failover: impl FnOnce() + Send) {
    const DEADLINE: Duration = ms(50);
    let rule = many();
    let log = Log::default();
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            failover();
            let announced = Instant::now();
            let before = new.calls("evalsha");
            until(LONG, "the new primary counts", || new.calls("evalsha") >= before + 5);
            tell.send(announced.elapsed()).unwrap();
        });
        let mut slow = 0;
        let resumed = loop {
            // The lines about calls are written by the thread that makes them.
            let call = log.during(|| Call::make(limiter, &[Check::new(&rule, "key")]));
            let fine = matches!(call.told, Told::Admitted | Told::Degraded(Degraded::Open));
            assert!(fine, "{call:?}");
            // On a busy machine a thread may be late by itself, and not again and again.
            slow += usize::from(call.took > DEADLINE + ms(50));
            assert!(call.took < secs(1), "{call:?}");
            if let Ok(resumed) = told.try_recv() {
                break resumed;
            }
            thread::sleep(ms(10));
        };
        assert!(slow <= 2, "{slow} calls were slow");
        assert!(resumed < secs(2), "{resumed:?}");
    });
    assert!(admitted(limiter, &rule));
    let log = log.text();
    assert!(log.lines().count() <= 20, "{log}");
}

/// Sentinels make the replica the primary. The old one stays up, and takes calls for ten seconds
/// more: none of them counts.
#[test]
fn b061_readonly_after_failover() {
    let _alone = alone();
    for flavor in Flavor::ALL {
        let sentinels = Sentinels::start(flavor);
        let limiter = open(&sentinels.url());
        block_on(limiter.ready()).unwrap();
        let _quiet = machine::quiet();
        through_a_failover(&limiter, &sentinels.servers()[1], || sentinels.failover());
    }
}

/// A plain name leads to another server, and the old one is its replica by then.
#[test]
fn b061_readonly_behind_a_name() {
    let _quiet = machine::quiet();
    for flavor in Flavor::ALL {
        let start = || Server::builder(flavor).option("repl-diskless-sync-delay", "0").start();
        let (old, new) = (start(), start());
        let follow = |replica: &Server, primary: &Server| {
            let port = primary.port().to_string();
            replica.command::<()>(&["REPLICAOF", "127.0.0.1", &port]);
            let linked = || replica.info("master_link_status") == "up";
            until(LONG, "the replica is one", linked);
        };
        follow(&new, &old);
        let name = Proxy::to(old.port());
        let limiter = open(&name.url());
        block_on(limiter.ready()).unwrap();
        through_a_failover(&limiter, &new, || {
            new.command::<()>(&["REPLICAOF", "NO", "ONE"]);
            follow(&old, &new);
            name.point_to(new.port());
        });
    }
}

/// A limiter as services have one, but for rules that are open.
fn open(url: &str) -> Limiter {
    let builder = Limiter::builder().redis(url).prefix(unique("topology"));
    builder.on_error(OnError::Open).build().unwrap()
}

/// The primary is killed. Calls are told so at once, and are served as soon as there is another,
/// also when the Sentinels die afterwards.
#[test]
fn a_killed_primary_is_replaced() {
    let _alone = alone();
    let mut sentinels = Sentinels::start(Flavor::Installed);
    let limiter = on(sentinels.url()).build().unwrap();
    let rule = many();
    assert!(admitted(&limiter, &rule));
    let caller = Caller::start(&limiter, vec![(rule.clone(), "key".to_owned())], None);
    sentinels.server(0).kill();
    sentinels.settle();
    until(secs(2), "the new primary serves", || admitted(&limiter, &rule));
    for sentinel in 0..3 {
        sentinels.sentinel(sentinel).kill();
    }
    let killed = Instant::now();
    until(LONG, "time passes", || killed.elapsed() > secs(3));
    let calls = caller.stop();
    // The deadline is ten seconds.
    assert!(calls.slowest() < secs(1), "{:?}", calls.slowest());
    let late: Vec<_> = calls.failures().into_iter().filter(|call| call.at > killed).collect();
    assert!(late.is_empty(), "{late:?}");
    assert!(!calls.failures().is_empty());

    // A connection that is lost now cannot be replaced: there is nobody to ask.
    sentinels.servers()[1].command::<u32>(&["CLIENT", "KILL", "TYPE", "normal"]);
    until(secs(3), "that is said", || {
        let call = Call::make(&limiter, &[Check::new(&rule, "key")]);
        assert!(call.took < secs(1), "{call:?}");
        matches!(call.told, Told::Failed(StoreError::Connection { .. }))
    });
    let new = on(sentinels.url()).build().unwrap();
    let error = block_on(new.ready()).unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error}");
    let port = |url: &String| url.trim_end_matches('/').rsplit_once(':').unwrap().1.to_owned();
    let ports: Vec<String> = sentinels.urls().iter().map(port).collect();
    assert!(ports.iter().any(|port| error.to_string().contains(port)), "{error}");
    sentinels.sentinel(1).start_again();
    until(secs(5), "it is asked", || admitted(&limiter, &rule) && admitted(&new, &rule));
}

/// Servers and Sentinels have logins of their own, and a wrong one is named without its password.
#[test]
fn logins_of_servers_and_of_sentinels_differ() {
    let _alone = alone();
    let sentinels = Sentinels::builder(Flavor::Redis8)
        .server_login("app", "s3cret%21@:/")
        .sentinel_login("watch", "w0rd&=?")
        .start();
    let url = sentinels.url();
    // One that may only ask where the primary is follows it as well.
    for sentinel in sentinels.sentinels() {
        let right = "+sentinel|get-master-addr-by-name";
        sentinel.command::<()>(&["ACL", "SETUSER", "few", "on", ">w0rd", "-@all", right]);
    }
    let (start, _) = url.split_once('?').unwrap();
    let few = format!("{start}?sentinel_user=few&sentinel_password=w0rd");
    let limiters = [url.clone(), few].map(|url| on(url).build().unwrap());
    let rule = many();
    assert!(limiters.iter().all(|limiter| admitted(limiter, &rule)));
    sentinels.failover();
    let new = &sentinels.servers()[1];
    for limiter in &limiters {
        until(secs(3), "the new primary counts", || {
            let before = new.calls("evalsha");
            admitted(limiter, &rule) && new.calls("evalsha") > before
        });
    }
    let (ports, _) = url.rsplit_once('@').unwrap().1.split_once('/').unwrap();
    for (wrong, user) in [
        (url.replace("app:", "app:no"), "app"),
        (url.replace("sentinel_password=", "sentinel_password=no"), "watch"),
        (format!("redis+sentinel://{ports}/{}", sentinels.name()), "nobody"),
    ] {
        let limiter = on(wrong).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err();
        assert!(matches!(error, StoreError::Permission { .. }), "{user}: {error:?}");
        let text = format!("{error} {error:?} {limiter:?}");
        assert!(!text.contains("s3cret") && !text.contains("w0rd"), "{text}");
    }
}

/// Sentinels that are dead or silent cost no time as long as one answers; a name that nobody knows
/// is an error that says so.
#[test]
fn dead_sentinels_and_unknown_names() {
    let sentinels = shared();
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let hole = hole.local_addr().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = sentinels.sentinels()[2].port();
    let places = format!("{nobody},{hole},127.0.0.1:{port}");
    let start = Instant::now();
    let limiter = on(sentinels.url_at(&places, sentinels.name())).build().unwrap();
    block_on(limiter.ready()).unwrap();
    assert!(start.elapsed() < secs(1), "{:?}", start.elapsed());
    assert!(admitted(&limiter, &many()));

    let start = Instant::now();
    let limiter = on(sentinels.url_at(&places, "unheard-of")).build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err().to_string();
    assert!(start.elapsed() < secs(1), "{:?}", start.elapsed());
    let expected = format!("the Sentinel at 127.0.0.1:{port} knows no `unheard-of`");
    assert!(error.contains(&expected), "{error}");
    // A server is no Sentinel.
    let server = format!("127.0.0.1:{}", sentinels.servers()[0].port());
    let limiter = on(sentinels.url_at(&server, sentinels.name())).build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err().to_string();
    assert!(error.contains(&server), "{error}");
}

/// For tests that leave them as they are.
fn shared() -> &'static Sentinels {
    static SHARED: std::sync::OnceLock<Sentinels> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| Sentinels::start(Flavor::Installed))
}
