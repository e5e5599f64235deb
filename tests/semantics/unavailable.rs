//! A store that is not there yet, and one that does not answer.

use std::net::TcpListener;
use std::thread;
use std::time::Instant;

use ratelimit_kit::{
    Check, Decision, Degraded, Limiter, Mode, OnError, Rate, RateLimitError, Rule, StoreError,
};
use test_support::{Flavor, Server, unique};

use test_stage::algorithms::{ms, rule, secs, token_bucket};
use test_stage::machine;
use test_stage::stage::block_on;

fn three() -> Rule {
    rule(token_bucket(3, Rate::per_hour(1)))
}

fn check(limiter: &Limiter, rule: &Rule) -> Result<Decision, RateLimitError> {
    limiter.check_blocking(&Check::new(rule, "key"))
}

/// A service that starts while Redis is down decides by itself, and uses Redis as soon as it is
/// there.
#[test]
fn a_service_starts_while_redis_is_down() {
    let _quiet = machine::quiet();
    let mut server = Server::start(Flavor::Installed);
    server.kill();
    let limiter = Limiter::builder().redis(server.url()).prefix(unique("it")).build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error}");
    assert!(error.to_string().contains(&server.port().to_string()), "{error}");

    let local = three();
    let mut remaining = Vec::new();
    for _ in 0..3 {
        let decision = check(&limiter, &local).unwrap();
        assert_eq!(decision.degraded(), Some(Degraded::Local));
        remaining.push(decision.outcomes()[0].remaining());
    }
    assert_eq!(remaining, [2, 1, 0]);
    match check(&limiter, &local) {
        Err(RateLimitError::Limited(refusal)) => {
            assert_eq!(refusal.decision().degraded(), Some(Degraded::Local));
            assert!(refusal.retry_after().is_some());
        }
        other => panic!("the local budget is used up: {other:?}"),
    }
    let open = check(&limiter, &three().with_on_error(OnError::Open)).unwrap();
    assert_eq!(open.degraded(), Some(Degraded::Open));
    assert!(open.outcomes().is_empty());
    let closed = check(&limiter, &three().with_on_error(OnError::Closed)).unwrap_err();
    assert!(matches!(closed, RateLimitError::Unavailable(_)), "{closed}");
    assert_eq!((closed.http_status(), closed.retry_after()), (503, None));

    server.start_again();
    let came = Instant::now();
    let shared = three().with_on_error(OnError::Closed);
    let first = loop {
        match check(&limiter, &shared) {
            Ok(decision) => break decision,
            Err(RateLimitError::Unavailable(_)) => thread::sleep(ms(10)),
            Err(other) => panic!("{other}"),
        }
        assert!(came.elapsed() < secs(3), "Redis is there, and is not used");
    };
    assert_eq!((first.degraded(), first.outcomes()[0].remaining()), (None, 2));
    // Now Redis counts: what was used of the local budget is not, and the next three are.
    assert_eq!([(); 4].map(|()| check(&limiter, &local).is_ok()), [true, true, true, false]);
    assert_eq!(server.command::<Vec<String>>(&["KEYS", "*"]).len(), 2);
}

/// A server that accepts and never says a word costs each call its deadline and no more.
#[test]
fn a_server_that_never_answers_costs_the_deadline() {
    let _quiet = machine::quiet();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}/", listener.local_addr().unwrap());
    // The kernel accepts for us; connections are held open until the listener goes.
    let limiter = Limiter::builder().redis(url).build().unwrap();
    let timed = |call: &dyn Fn() -> Result<Decision, RateLimitError>| {
        let start = Instant::now();
        let result = call();
        let took = start.elapsed();
        assert!(took < ms(100), "{took:?}");
        result
    };
    for _ in 0..3 {
        let local = rule(token_bucket(20, Rate::per_hour(1)));
        let open = three().with_on_error(OnError::Open);
        let closed = three().with_on_error(OnError::Closed);
        for _ in 0..4 {
            for asynchronous in [false, true] {
                let call = |rule: &Rule| {
                    timed(&|| {
                        if asynchronous {
                            block_on(limiter.check(&Check::new(rule, "key")))
                        } else {
                            check(&limiter, rule)
                        }
                    })
                };
                assert_eq!(call(&local).unwrap().degraded(), Some(Degraded::Local));
                assert_eq!(call(&open).unwrap().degraded(), Some(Degraded::Open));
                match call(&closed) {
                    Err(RateLimitError::Unavailable(unavailable)) => {
                        assert!(!unavailable.cause().to_string().is_empty());
                    }
                    other => panic!("nobody answers, and closed gives {other:?}"),
                }
            }
        }
        thread::sleep(ms(400));
    }
}

/// A rule in shadow mode never keeps a call from running, whatever it says about errors.
#[test]
fn shadow_never_rejects_not_even_closed_without_a_store() {
    let closed = || three().with_on_error(OnError::Closed);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let limiter = Limiter::builder().redis(format!("redis://127.0.0.1:{port}")).build().unwrap();
    for call in 0..5 {
        let decision = check(&limiter, &closed().with_mode(Mode::Shadow));
        assert!(decision.unwrap().is_admitted(), "{call}");
    }
    let watched = closed().with_mode(Mode::Shadow);
    let enforced = closed();
    let checks = [Check::new(&watched, "key"), Check::new(&enforced, "key")];
    assert!(matches!(limiter.check_all_blocking(&checks), Err(RateLimitError::Unavailable(_))));
}
