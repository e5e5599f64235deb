//! What becomes known of calls that were not simply admitted: counts in the log, and who it was for those
//! who want to know.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use axum::http;
use ratelimit_kit::{
    Check, LimitEvent, LimitEventKind, LimitKey, Limiter, LimiterBuilder, Mode, OnError,
    RateLimitError, RateLimitLayer, RequestContext, Rule, rate_limit,
};
use test_support::{Link, Log, Node};
use tower::{Layer, ServiceExt, service_fn};

use test_stage::algorithms::{fixed_window, ms, secs};
use test_stage::stage::block_on;

#[rate_limit(name = "b162-plain", key = "'sms:' + phone", algo = fixed_window, limit = 10, window = 60, limiter = limiter)]
fn plain(limiter: &Limiter, phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "b162-hash", key = "hash(phone)", algo = fixed_window, limit = 10, window = 60, limiter = limiter)]
async fn hashed(limiter: &Limiter, phone: &str) -> Result<(), RateLimitError> {
    Ok(())
}

/// Three phones, and a key that must not get into a log as it is.
fn phones() -> [String; 4] {
    let hostile = "\u{1b}[31mphone\r\n".repeat(800);
    ["13800000001".into(), "13800000002".into(), "13800000003".into(), hostile]
}

fn rule(name: &'static str, limit: u64) -> Rule {
    Rule::new(name, fixed_window(limit, secs(60)))
}

fn limiter() -> LimiterBuilder {
    Limiter::builder().key_secret("a secret of this test")
}

/// Calls until so many calls of each rule were refused.
fn refused_on_all(limiter: &Limiter, refusals: usize) {
    let phones = phones();
    let mut refused = [0, 0];
    for phone in phones.iter().cycle() {
        let calls = [plain(limiter, phone), block_on(hashed(limiter, phone))];
        for (refused, call) in refused.iter_mut().zip(calls) {
            *refused += usize::from(call.is_err());
        }
        if refused.iter().all(|refused| *refused >= refusals) {
            break;
        }
    }
    assert_eq!(refused, [refusals; 2]);
}

/// Lines about a rule.
fn lines_about(log: &Log, rule: &str) -> Vec<String> {
    log.lines(&format!("rule=\"{rule}\""))
}

/// What lines say, added up.
fn sum(lines: &[String], name: &str) -> usize {
    let fields = lines.iter().flat_map(|line| line.split(' '));
    let numbers = fields.filter_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    numbers.map(|number| number.parse::<usize>().unwrap()).sum()
}

/// Until the lines about a rule have them all: the second one is due 10 s after the first.
fn until_sum(log: &Log, rule: &str, name: &str, all: usize) -> Vec<String> {
    let end = Instant::now() + secs(20);
    while sum(&lines_about(log, rule), name) < all && Instant::now() < end {
        thread::sleep(ms(20));
    }
    let lines = lines_about(log, rule);
    assert_eq!(sum(&lines, name), all, "{lines:?}");
    lines
}

fn are_fit_to_be_read(log: &Log) {
    for line in log.text().lines() {
        assert!(line.len() <= 1_024 && !line.contains(char::is_control), "{line:?}");
    }
}

/// Each part has a log, so a process, of its own. All wait for lines that come 10 s after the first: this
/// takes 11 s.
#[test]
fn b105_b162_refusals_are_counted_in_the_log_and_keys_are_there_when_asked_for() {
    const TEST: &str =
        "events::b105_b162_refusals_are_counted_in_the_log_and_keys_are_there_when_asked_for";
    if let Some(mut link) = Link::attach() {
        match link.recv().as_deref() {
            Some("flood") => b105_flood(),
            Some("off") => without_keys(),
            Some("on") => with_keys(),
            other => panic!("what is {other:?}?"),
        }
        return link.send("as it should be");
    }
    let mut nodes = ["flood", "off", "on"].map(|part| {
        let mut node = Node::start(TEST);
        node.send(part);
        node
    });
    for node in &mut nodes {
        assert_eq!(node.recv(), "as it should be");
    }
}

fn b105_flood() {
    const REFUSED: usize = 100_000;
    let log = Log::start();
    let (limiter, rule) = (limiter().build().unwrap(), rule("b105", 10));
    let hostile = LimitKey::from("\u{1b}[31mkey\n".repeat(1_000));
    for _ in 0..REFUSED + 10 {
        let _ = limiter.check_blocking(&Check::new(&rule, &hostile));
    }
    let lines = until_sum(&log, "b105", "limited", REFUSED);
    assert!((2..=20).contains(&lines.len()), "{lines:?}");
    are_fit_to_be_read(&log);
}

fn without_keys() {
    let log = Log::start();
    let limiter = limiter().build().unwrap();
    refused_on_all(&limiter, 1_000);
    for rule in ["b162-plain", "b162-hash"] {
        let lines = until_sum(&log, rule, "limited", 1_000);
        assert!(lines.len() <= 20 && lines.iter().all(|line| line.contains(" INFO ")), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains("key=")), "{lines:?}");
    }
    assert!(!log.text().contains("138000") && !log.text().contains("31mphone"), "{}", log.text());
    are_fit_to_be_read(&log);
}

fn with_keys() {
    let log = Log::start();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let limiter = limiter().log_keys(true).on_event({
        let seen = Arc::clone(&seen);
        move |event: &LimitEvent<'_>| {
            assert_eq!((event.kind, event.limit, event.cost), (LimitEventKind::Limited, 10, 1));
            assert!(event.retry_after.is_some() && event.degraded.is_none());
            seen.lock().unwrap().push((event.rule.to_owned(), event.key.as_str().to_owned()));
        }
    });
    let limiter = limiter.build().unwrap();
    refused_on_all(&limiter, 1_000);
    for rule in ["b162-plain", "b162-hash"] {
        let lines = until_sum(&log, rule, "limited", 1_000);
        assert!(lines.len() <= 20, "{lines:?}");
        let seen = seen.lock().unwrap();
        let of_rule = seen.iter().filter(|(of, _)| of == rule);
        assert_eq!(of_rule.clone().count(), 1_000, "each refusal is an event");
        let keys: BTreeSet<_> = of_rule.map(|(_, key)| key).collect();
        assert_eq!(keys.len(), 4);
        assert_eq!(keys.iter().any(|key| key.contains("138000")), rule == "b162-plain");
        for key in keys {
            let field = format!(" key={key} limit=10 cost=1 retry_after=");
            let of_key: Vec<_> = lines.iter().filter(|line| line.contains(&field)).collect();
            assert!(!of_key.is_empty(), "{key}: {lines:?}");
            assert!(of_key.iter().all(|line| line.contains("decided_by=\"store\"")), "{of_key:?}");
        }
    }
    are_fit_to_be_read(&log);
}

/// A limiter whose events are kept: kind, key, cost, whether there is a store.
fn observed(
    builder: LimiterBuilder,
) -> (Limiter, mpsc::Receiver<(LimitEventKind, String, u64, bool)>) {
    let (tell, events) = mpsc::channel();
    let limiter = builder.on_event(move |event: &LimitEvent<'_>| {
        let key = event.key.as_str().to_owned();
        tell.send((event.kind, key, event.cost, event.degraded.is_none())).unwrap();
    });
    (limiter.build().unwrap(), events)
}

#[test]
fn what_a_shadow_rule_would_refuse_and_what_is_invalid_are_events() {
    let (limiter, events) = observed(limiter());
    let shadow = rule("events-shadow", 0).with_mode(Mode::Shadow);
    assert!(limiter.check_blocking(&Check::new(&shadow, "key")).is_ok());
    let rule = rule("events-invalid", 2);
    assert!(limiter.check_blocking(&Check::new(&rule, "")).is_err());
    assert!(limiter.check_blocking(&Check::new(&rule, "key").with_cost(3)).is_err());
    assert!(limiter.check_blocking(&Check::new(&rule, "key")).is_ok());
    let events: Vec<_> = events.try_iter().collect();
    let (shadowed, invalid) = (LimitEventKind::Shadowed, LimitEventKind::Invalid);
    let key = || "key".to_owned();
    assert_eq!(
        events,
        [(shadowed, key(), 1, true), (invalid, String::new(), 1, true), (invalid, key(), 3, true)]
    );
}

#[test]
fn what_is_decided_without_the_store_says_so() {
    for (on_error, kind) in [
        (OnError::Open, LimitEventKind::Open),
        (OnError::Closed, LimitEventKind::Unavailable),
        (OnError::Local, LimitEventKind::Limited),
    ] {
        let builder = limiter().redis("redis://127.0.0.1:1").on_error(on_error);
        let (limiter, events) = observed(builder);
        let rule = rule("events-down", 0);
        let _ = limiter.check_blocking(&Check::new(&rule, "key"));
        let has_store = on_error == OnError::Closed;
        assert_eq!(events.try_iter().collect::<Vec<_>>(), [(kind, "key".into(), 1, has_store)]);
    }
}

#[test]
fn what_a_layer_refuses_is_an_event() {
    let (limiter, events) = observed(limiter());
    let rule = rule("events-layer", 0);
    let layer =
        RateLimitLayer::new().limiter(limiter).limit(rule, |_: &RequestContext| "key".into());
    let service = layer.layer(service_fn(async |_: http::Request<String>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(String::new()))
    }));
    let answer = block_on(service.oneshot(http::Request::new(String::new()))).unwrap();
    assert_eq!(answer.status(), 429);
    let events: Vec<_> = events.try_iter().collect();
    assert_eq!(events, [(LimitEventKind::Limited, "key".into(), 1, true)]);
}

#[test]
fn b162_a_hook_that_panics_changes_nothing() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some("a hook that panics") {
            quiet(info);
        }
    }));
    let limiter = limiter().on_event(|_| panic!("a hook that panics")).build().unwrap();
    refused_on_all(&limiter, 100);
    assert!(plain(&limiter, "13900000000").is_ok());
}

/// The hook waits until it is released, while others are refused and admitted.
#[test]
fn b162_a_slow_hook_delays_nobody_but_its_caller() {
    let (enter, entered) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let limiter = limiter().on_event(move |event: &LimitEvent<'_>| {
        enter.send(event.key.as_str().to_owned()).unwrap();
        if event.key.as_str() == "slow" {
            released.lock().unwrap().recv().unwrap();
        }
    });
    let limiter = limiter.build().unwrap();
    let rule = rule("events-slow", 1);
    let call = |key: &str| limiter.check_blocking(&Check::new(&rule, key)).is_ok();
    thread::scope(|scope| {
        assert!(call("slow"));
        let slow = scope.spawn(|| call("slow"));
        let patience = Duration::from_secs(10);
        assert_eq!(entered.recv_timeout(patience).unwrap(), "slow");
        assert_eq!((call("other"), call("other"), call("more")), (true, false, true));
        assert_eq!(entered.recv_timeout(patience).unwrap(), "other");
        assert!(!slow.is_finished());
        release.send(()).unwrap();
        assert!(!slow.join().unwrap());
    });
}

/// A hook may call what is limited itself.
#[test]
fn a_hook_gets_no_events_of_its_own_calls() {
    let (limiter, calls) = (Arc::new(Mutex::new(None::<Limiter>)), Arc::new(Mutex::new(0)));
    let rule = Arc::new(rule("events-inner", 0));
    let hook = {
        let (limiter, calls, rule) = (Arc::clone(&limiter), Arc::clone(&calls), Arc::clone(&rule));
        move |_: &LimitEvent<'_>| {
            *calls.lock().unwrap() += 1;
            let limiter = limiter.lock().unwrap().clone().unwrap();
            assert!(limiter.check_blocking(&Check::new(&rule, "key")).is_err());
        }
    };
    let built = Limiter::builder().on_event(hook).build().unwrap();
    *limiter.lock().unwrap() = Some(built.clone());
    assert!(built.check_blocking(&Check::new(&rule, "key")).is_err());
    assert_eq!(*calls.lock().unwrap(), 1);
}
