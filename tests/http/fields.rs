//! The header fields: what they say, of which rules, and that it comes true.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Response};
use pollster::block_on;
use proptest::prelude::*;
use ratelimit_kit::{
    Algorithm, Check, Clock, Limiter, ManualClock, Rate, RateLimitError, RateLimitHeaders,
    RateLimitLayer, RequestContext, Rule,
};
use tower::{Layer, ServiceExt, service_fn};

use crate::grammar::{self, Item};
use crate::support::client::{Answer, get};
use crate::support::limiter;
use crate::support::site::Site;

fn on_a_clock() -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap(), clock)
}

fn layer() -> RateLimitLayer {
    RateLimitLayer::new()
}

#[track_caller]
fn of(answer: &Answer, field: &str) -> Vec<Item> {
    grammar::list(answer.header(field)).unwrap_or_else(|why| panic!("{why}: {answer:?}"))
}

fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| &*item.name).collect()
}

fn item<'i>(items: &'i [Item], name: &str) -> &'i Item {
    items.iter().find(|item| item.name == name).unwrap_or_else(|| panic!("no {name}: {items:?}"))
}

#[test]
fn b083_retry_after_is_rounded_up_and_never_zero() {
    for (left, seconds) in [(9_001, "10"), (1_001, "2"), (1_000, "1"), (999, "1"), (1, "1")] {
        let make = || {
            let (limiter, clock) = on_a_clock();
            // The window is opened, and most of it is over, before the first request comes.
            let window = Duration::from_secs(10);
            let rule = Rule::new("ten", Algorithm::FixedWindow { limit: 1, window });
            limiter.check_blocking(&Check::new(&rule, open_key())).unwrap();
            clock.advance(window.checked_sub(Duration::from_millis(left)).unwrap());
            Site::new(limiter, layer())
        };
        Site::everywhere(make, |framework, address| {
            let answer = get("/ten").to(address);
            assert_eq!(answer.status, 429, "{framework}");
            // The client of these tests fails when a header comes twice.
            assert_eq!(answer.header("retry-after"), seconds, "{framework}, {left} ms");
            assert_eq!(item(&of(&answer, "ratelimit"), "ten").get("t"), seconds.parse().ok());
        });
    }
}

/// The key that the annotation of `/ten` makes.
fn open_key() -> ratelimit_kit::LimitKey {
    ratelimit_kit::KeyBuilder::new().text("ten").finish()
}

#[test]
fn b085_the_rule_that_refuses_is_the_one_described() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let answers: Vec<Answer> = (0..6).map(|_| get("/year").to(address)).collect();
            for (n, answer) in answers.iter().enumerate() {
                assert_eq!(answer.status, if n < 5 { 200 } else { 429 }, "{framework}");
                // All rules of the call, on success and on refusal; the one without a name has none.
                let (policies, limits) = (of(answer, "ratelimit-policy"), of(answer, "ratelimit"));
                assert_eq!(names(&policies), ["M", "Y", "default"], "{framework}");
                assert_eq!(names(&limits), ["M", "Y", "default"], "{framework}");
                let left = i64::try_from(4_usize.saturating_sub(n)).unwrap();
                assert_eq!(item(&limits, "M").get("r"), Some(left), "{framework}");
                assert_eq!(item(&limits, "M").get("t"), Some(60), "{framework}");
                let spent = i64::try_from((n + 1).min(5)).unwrap();
                assert_eq!(item(&limits, "Y").get("r"), Some(100_000 - spent), "{framework}");
                let policy =
                    |name| (item(&policies, name).get("q"), item(&policies, name).get("w"));
                assert_eq!(policy("M"), (Some(5), Some(60)));
                assert_eq!(policy("Y"), (Some(100_000), Some(31_536_000)));
                assert_eq!(policy("default"), (Some(50), Some(10)));
                assert!(
                    !format!("{answer:?}").contains("handlers"),
                    "a path of the code: {answer:?}"
                );
            }
            let wait: u64 = answers[5].header("retry-after").parse().unwrap();
            assert_eq!(wait, 60, "{framework}");

            let answers: Vec<Answer> = (0..6).map(|_| get("/hour").to(address)).collect();
            let last = &answers[5];
            assert_eq!((last.status, last.header("retry-after")), (429, "3600"), "{framework}");
            let limits = of(last, "ratelimit");
            assert_eq!(
                (item(&limits, "H").get("r"), item(&limits, "H").get("t")),
                (Some(0), Some(3600))
            );
        },
    );
}

#[test]
fn older_fields_describe_the_rule_that_stops_first() {
    let site = |fields: &[RateLimitHeaders]| {
        let layer = layer().headers(fields.to_vec());
        move || Site::new(limiter(), layer.clone())
    };
    Site::everywhere(site(&[RateLimitHeaders::Draft6]), |framework, address| {
        let answers: Vec<Answer> = (0..6).map(|_| get("/year").to(address)).collect();
        for (answer, left) in answers.iter().zip(["4", "3", "2", "1", "0", "0"]) {
            assert_eq!(answer.header("ratelimit-limit"), "5", "{framework}");
            assert_eq!(answer.header("ratelimit-remaining"), left, "{framework}");
            assert_eq!(answer.header("ratelimit-reset"), "60", "{framework}");
            assert_eq!(answer.header("ratelimit-policy"), "5;w=60, 100000;w=31536000, 50;w=10");
            assert!(!answer.headers.contains_key("ratelimit"), "{framework}");
        }
        let hour: Vec<Answer> = (0..6).map(|_| get("/hour").to(address)).collect();
        assert_eq!(hour[5].header("ratelimit-reset"), "3600", "{framework}");
    });
    Site::everywhere(site(&[RateLimitHeaders::XRateLimit]), |framework, address| {
        let answers: Vec<Answer> = (0..6).map(|_| get("/year").to(address)).collect();
        let fields = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
        assert_eq!(answers[0].fields(), fields, "{framework}");
        let of = |answer: &Answer| fields.map(|field| answer.header(field).to_owned());
        assert_eq!(of(&answers[4]), ["5", "0", "60"], "{framework}");
        assert_eq!(of(&answers[5]), ["5", "0", "60"], "{framework}");
    });
    Site::everywhere(site(&[]), |framework, address| {
        let answers: Vec<Answer> = (0..6).map(|_| get("/year").to(address)).collect();
        assert_eq!(answers[4].fields(), [""; 0], "{framework}");
        assert_eq!(answers[5].fields(), ["retry-after"], "{framework}");
    });
    let both = [RateLimitHeaders::Draft11, RateLimitHeaders::XRateLimit];
    Site::everywhere(site(&both), |framework, address| {
        assert_eq!(get("/year").to(address).fields().len(), 5, "{framework}");
    });
}

#[test]
fn only_what_was_decided_is_told() {
    let window = Duration::from_mins(1);
    let hidden = Rule::new("Z", Algorithm::FixedWindow { limit: 9, window }).hide_headers();
    let layer = layer().limit(hidden, |_: &RequestContext| ratelimit_kit::LimitKey::from("k"));
    Site::everywhere(
        || Site::new(limiter(), layer.clone()),
        |framework, address| {
            assert_eq!(get("/free").to(address).fields(), [""; 0], "{framework}");
            let answer = get("/year").to(address);
            let told = ["M", "Y", "default"];
            assert_eq!(names(&of(&answer, "ratelimit")), told, "{framework}");
            assert_eq!(names(&of(&answer, "ratelimit-policy")), told, "{framework}");
            // No wait will do, and none is told.
            let zero = get("/zero").to(address);
            assert_eq!((zero.status, zero.fields()), (429, vec!["ratelimit", "ratelimit-policy"]));
            assert_eq!(zero.header("ratelimit"), r#""zero";r=0"#, "{framework}");
        },
    );
}

#[test]
fn numbers_of_a_call_are_told_of_that_call_alone() {
    static RULE: Rule = Rule::new("plan", bucket(5));
    const fn bucket(capacity: u64) -> Algorithm {
        Algorithm::TokenBucket { capacity, refill: Rate::per_second(1) }
    }
    let limiter = limiter();
    let policies = |numbers: Option<u64>| {
        let limiter = limiter.clone();
        let service = layer().headers([RateLimitHeaders::Draft6, RateLimitHeaders::Draft11]);
        let service = service.layer(service_fn(move |_: Request<()>| {
            let check = Check::new(&RULE, "k").with_cost(0);
            let check = match numbers {
                Some(capacity) => check.with_algorithm(bucket(capacity)),
                None => check,
            };
            limiter.check_blocking(&check).unwrap();
            ready(Ok::<_, Infallible>(Response::new(String::new())))
        }));
        let response = block_on(service.oneshot(Request::new(()))).unwrap();
        let field = |name| {
            let mut values = response.headers().get_all(name).iter();
            let value = values.next().unwrap().to_str().unwrap().to_owned();
            assert!(values.next().is_none(), "{name} twice");
            value
        };
        // Of two fields of one name the later form counts.
        (field("ratelimit-policy"), field("ratelimit-limit"))
    };
    let told = |policy: &str, limit: &str| (policy.to_owned(), limit.to_owned());
    assert_eq!(policies(Some(7)), told(r#""plan";q=7;w=7"#, "7"));
    assert_eq!(policies(None), told(r#""plan";q=5;w=5"#, "5"));
    assert_eq!(policies(Some(9)), told(r#""plan";q=9;w=9"#, "9"));
    assert_eq!(policies(None), told(r#""plan";q=5;w=5"#, "5"));
    // Integers of these fields have 15 digits.
    let most = "999999999999999";
    let (policy, limit) = policies(Some(9_007_199_254_740_991));
    assert_eq!(policy, format!(r#""plan";q={most};w={most}"#));
    assert_eq!(limit, most);
}

/// Draft 6 has the same integers, and is read by the same parsers.
#[test]
fn large_numbers_in_older_fields() {
    let large = 9_007_199_254_740_991;
    let bucket = Algorithm::TokenBucket { capacity: large, refill: Rate::per_second(1) };
    let rule = Rule::new("large", bucket);
    let layer = layer()
        .headers([RateLimitHeaders::Draft6, RateLimitHeaders::XRateLimit])
        .limiter(limiter());
    let layer = layer.limit(rule, |_: &RequestContext| ratelimit_kit::LimitKey::from("k"));
    Site::everywhere(
        || Site::new(limiter(), layer.clone()),
        |framework, address| {
            let answer = get("/free").to(address);
            let most = "999999999999999";
            assert_eq!(answer.header("ratelimit-limit"), most, "{framework}");
            assert_eq!(answer.header("ratelimit-remaining"), most, "{framework}");
            assert_eq!(answer.header("ratelimit-policy"), format!("{most};w={most}"));
            assert_eq!(answer.header("x-ratelimit-limit"), large.to_string(), "{framework}");
        },
    );
}

/// While Redis does not answer, the limit in force is this instance's share, and that is what is told.
#[test]
fn shares_are_told_as_they_are() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let limiter = Limiter::builder()
        .redis(format!("redis://127.0.0.1:{port}"))
        .replicas(4.try_into().unwrap())
        .build()
        .unwrap();
    let window = Duration::from_mins(1);
    let rule = Rule::new("shared", Algorithm::FixedWindow { limit: 20, window });
    let respond = |forms| {
        let layer = layer().headers([forms]).limiter(limiter.clone());
        let service = layer
            .limit(rule.clone(), |_: &RequestContext| ratelimit_kit::LimitKey::from("k"))
            .layer(service_fn(async |_: Request<()>| {
                Ok::<_, Infallible>(Response::new(String::new()))
            }));
        block_on(service.oneshot(Request::new(()))).unwrap()
    };
    let told = respond(RateLimitHeaders::Draft11);
    assert_eq!(told.headers()["ratelimit-policy"], r#""shared";q=5;w=60"#);
    assert_eq!(told.headers()["ratelimit"], r#""shared";r=4;t=60"#);
    let told = respond(RateLimitHeaders::Draft6);
    assert_eq!(told.headers()["ratelimit-policy"], "5;w=60");
    assert_eq!(told.headers()["ratelimit-limit"], "5");
}

#[test]
fn f36_names_that_a_field_cannot_hold_are_escaped() {
    let window = Duration::from_mins(1);
    let rule = |name| Rule::new(name, Algorithm::FixedWindow { limit: 9, window });
    let key = |_: &RequestContext| ratelimit_kit::LimitKey::from("k");
    let layer = RateLimitLayer::new()
        .limiter(limiter())
        .limit(rule("短信"), key)
        .limit(rule("a \"b\\c"), key)
        .limit(rule("x\ny"), key);
    Site::everywhere(
        || Site::new(limiter(), layer.clone()),
        |framework, address| {
            let answer = get("/free").to(address);
            let shown = ["%E7%9F%AD%E4%BF%A1", "a \"b\\c", "x%0Ay"];
            assert_eq!(names(&of(&answer, "ratelimit")), shown, "{framework}");
        },
    );
}

/// A rule of any algorithm, with numbers of all sizes.
fn algorithm() -> impl Strategy<Value = Algorithm> {
    let window = prop_oneof![1..5_000_u64, (1..100_u64).prop_map(|s| s * 1_000), 1..10_000_000_u64]
        .prop_map(Duration::from_millis);
    (1..20_u64, window, 1..10_u32, 0..5_u8).prop_map(|(limit, window, sub_windows, which)| {
        let rate = Rate::new(limit, window);
        match which {
            0 => Algorithm::TokenBucket { capacity: limit, refill: rate },
            1 => Algorithm::LeakyBucket { capacity: limit, leak: rate },
            2 => Algorithm::FixedWindow { limit, window },
            3 => Algorithm::SlidingLog { limit, window },
            _ => Algorithm::SlidingCounter { limit, window, sub_windows },
        }
    })
}

/// What happens, and after how long.
fn calls() -> impl Strategy<Value = Vec<(u64, Duration)>> {
    let pause = prop_oneof![Just(0), 1..1_000_u64, 1..100_000_u64].prop_map(Duration::from_millis);
    prop::collection::vec((1..6_u64, pause), 1..40)
}

/// A response as the layer makes it, of a handler that takes so much of each rule.
fn respond(limiter: &Limiter, rules: &Arc<Vec<Rule>>, cost: u64) -> Response<String> {
    let (limiter, rules) = (limiter.clone(), rules.clone());
    let handler = service_fn(move |_: Request<()>| {
        let decided = limiter.check_all_blocking(&checks(&rules, cost));
        // Errors become responses inside of the request's context, as those of handlers do.
        let response = match decided {
            Ok(_) => Response::new(String::new()),
            Err(error) => error.http_response(),
        };
        ready(Ok::<_, Infallible>(response))
    });
    let service = layer().layer(service_fn(move |request| {
        let handler = handler.clone();
        async move { handler.oneshot(request).await }
    }));
    block_on(service.oneshot(Request::new(()))).unwrap_or_else(|never| match never {})
}

fn checks(rules: &[Rule], cost: u64) -> Vec<Check<'_>> {
    let fits = |rule: &Rule| cost.min(rule.algorithm().unwrap().limit());
    rules.iter().map(|rule| Check::new(rule, "k").with_cost(fits(rule))).collect()
}

fn seconds(response: &Response<String>) -> Option<Duration> {
    let wait = response.headers().get("retry-after")?.to_str().unwrap();
    Some(Duration::from_secs(wait.parse().unwrap()))
}

fn limits(response: &Response<String>) -> Vec<Item> {
    grammar::list(response.headers()["ratelimit"].to_str().unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(300)
    })]

    /// Who waits as told is admitted, and who comes a second earlier is not, where the wait was not
    /// rounded.
    #[test]
    fn waits_come_true(
        algorithms in prop::collection::vec(algorithm(), 1..4),
        calls in calls(),
    ) {
        let (limiter, clock) = on_a_clock();
        let named = |(n, algorithm)| Rule::named(format!("r{n}"), algorithm);
        let rules = Arc::new(algorithms.into_iter().enumerate().map(named).collect::<Vec<_>>());
        for (cost, pause) in calls {
            clock.advance(pause);
            let response = respond(&limiter, &rules, cost);
            let told = limits(&response);
            if response.status() == 200 {
                continue;
            }
            let wait = seconds(&response).expect("a cost that fits is admitted some day");
            let refused = limiter.check_all_blocking(&checks(&rules, cost)).unwrap_err();
            let exact = refused.retry_after().unwrap();
            prop_assert!(exact <= wait && wait < exact + Duration::from_secs(1) || wait.as_secs() == 1);
            // The longest of the waits of the rules that refuse is the one that counts.
            let refuses = refused_rules(&refused);
            let longest = told.iter().filter(|item| refuses.contains(&item.name));
            let longest = longest.filter_map(|item| item.get("t")).max().unwrap();
            prop_assert_eq!(u64::try_from(longest).unwrap(), wait.as_secs());

            if exact == wait {
                clock.advance(wait.checked_sub(Duration::from_secs(1)).unwrap());
                prop_assert_eq!(respond(&limiter, &rules, cost).status(), 429, "a second less");
                clock.advance(Duration::from_secs(1));
            } else {
                clock.advance(wait);
            }
            prop_assert_eq!(respond(&limiter, &rules, cost).status(), 200, "after {:?}", wait);
        }
        // In the end, all is there again when the last response says so.
        let last = limits(&respond(&limiter, &rules, 0));
        let longest = last.iter().filter_map(|item| item.get("t")).max().unwrap();
        clock.advance(Duration::from_secs(u64::try_from(longest).unwrap()));
        for (rule, item) in rules.iter().zip(limits(&respond(&limiter, &rules, 0))) {
            prop_assert_eq!(item.get("r").unwrap().unsigned_abs(), rule.algorithm().unwrap().limit());
        }
    }
}

fn refused_rules(error: &RateLimitError) -> Vec<String> {
    let RateLimitError::Limited(refusal) = error else { panic!("{error}") };
    let refused = refusal.decision().outcomes().iter().filter(|outcome| !outcome.is_admitted());
    refused.map(|outcome| outcome.rule().to_owned()).collect()
}
