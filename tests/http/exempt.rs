//! What a layer's rules leave out, and what each request says of them.

use std::net::SocketAddr;
use std::time::Duration;

use ratelimit_kit::{
    Algorithm, LayerRule, LimitKey, Limiter, Mode, RateLimitLayer, RequestContext, Rule,
};

use crate::support::client::{ask, get};
use crate::support::limiter;
use crate::support::site::Site;

fn five(name: &str) -> Rule {
    let window = Duration::from_mins(10);
    Rule::named(name, Algorithm::FixedWindow { limit: 5, window })
}

/// As many as the rule has left, by one request more.
fn exempt(address: SocketAddr, path: &str) -> bool {
    let answer = get(path).to(address);
    let told = answer.fields().iter().any(|field| field.contains("ratelimit"));
    assert_eq!(answer.status == 429, told, "{path}: {answer:?}");
    !told
}

#[test]
fn b143_probes() {
    let layer = |limiter: Limiter| {
        let layer = RateLimitLayer::new().limiter(limiter);
        layer.limit(five("b143"), RequestContext::ip_key).skip_paths(["/health"])
    };
    Site::everywhere(
        || Site::new(limiter(), layer(limiter())),
        |framework, address| {
            assert_eq!(get("/health").times(20, address), [200; 20], "{framework}");
            let served = get("/").times(8, address);
            assert_eq!(served, [200, 200, 200, 200, 200, 429, 429, 429], "{framework}");
            for _ in 0..20 {
                let answer = get("/health").to(address);
                assert_eq!((answer.status, answer.fields()), (200, vec![]), "{framework}");
            }
            for path in ["/%68ealth", "/health?x", "/health?a=/"] {
                assert!(exempt(address, path), "{framework} {path}");
            }
            for method in ["HEAD", "OPTIONS", "POST"] {
                let answer = ask(method, "/health").to(address);
                assert!(answer.status != 429, "{framework} {method} {answer:?}");
                assert_eq!(answer.fields(), [""; 0], "{framework} {method}");
            }
            for path in ["/health/", "/healthy", "//health", "/HEALTH", "/x%2Fhealth", "/?/health"]
            {
                assert!(!exempt(address, path), "{framework} {path}");
            }
        },
    );
}

/// Exempt requests are not looked at by anybody: their keys are not even made.
#[test]
fn f34_by_what_is_known_of_the_request() {
    let layer = || {
        let nobody = |_: &RequestContext| LimitKey::from("");
        RateLimitLayer::new()
            .limiter(limiter())
            .limit(five("f34"), nobody)
            .skip(|context| context.method() == Some("OPTIONS"))
            .skip(|context| context.user() == Some("monitor"))
            .user(|request| request.header("x-checked").map(str::to_owned))
    };
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            assert_eq!(get("/free").times(2, address), [400; 2], "{framework}");
            let monitor = get("/free").header("x-checked", "monitor");
            assert_eq!(monitor.times(7, address), [200; 7], "{framework}");
            let preflight = ask("OPTIONS", "/free").to(address);
            assert!(![400, 429].contains(&preflight.status), "{framework} {preflight:?}");
        },
    );
}

/// One rule of two leaves a request out, and the other does not.
#[test]
fn f34_one_rule_of_several() {
    let layer = || {
        let all = Algorithm::FixedWindow { limit: 7, window: Duration::from_mins(10) };
        let reads = LayerRule::from(five("f34-some")).skip(|of| of.path() == Some("/free"));
        RateLimitLayer::new()
            .limiter(limiter())
            .limit(Rule::named("f34-all", all), RequestContext::ip_key)
            .limit(reads, RequestContext::ip_key)
    };
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let told = get("/free").to(address);
            assert_eq!(told.header("ratelimit"), r#""f34-all";r=6;t=600"#, "{framework}");
            let both = get("/health").times(6, address);
            assert_eq!(both, [200, 200, 200, 200, 200, 429], "{framework}");
            assert_eq!(get("/free").times(2, address), [200, 429], "{framework}");
        },
    );
}

#[test]
fn cost_numbers_and_mode_are_the_requests() {
    let layer = || {
        let window = Duration::from_mins(10);
        let rule = LayerRule::from(five("of-the-request"))
            .with_cost(|context| if context.path() == Some("/health") { 3 } else { 1 })
            .with_algorithm(move |context| {
                let limit = if context.user() == Some("ann") { 9 } else { 5 };
                Algorithm::FixedWindow { limit, window }
            })
            .with_mode(|context| match context.user() {
                Some("watched") => Mode::Shadow,
                Some("free") => Mode::Off,
                _ => Mode::Enforce,
            });
        RateLimitLayer::new()
            .limiter(limiter())
            .limit(rule, |_| "all".into())
            .user(|request| request.header("x-user-id").map(str::to_owned))
    };
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let by = |user: &str, path: &str| get(path).header("x-user-id", user).to(address);
            let first = by("bob", "/health");
            assert_eq!(first.header("ratelimit-policy"), r#""of-the-request";q=5;w=600"#);
            assert!(first.header("ratelimit").starts_with(r#""of-the-request";r=2"#));
            assert_eq!(by("bob", "/health").status, 429, "{framework}: 3 and 3 are more than 5");
            let ann = by("ann", "/health");
            assert_eq!(ann.header("ratelimit-policy"), r#""of-the-request";q=9;w=600"#);
            assert!(ann.header("ratelimit").starts_with(r#""of-the-request";r=3"#), "{ann:?}");
            assert_eq!(by("bob", "/free").status, 429, "{framework}");
            for user in ["watched", "free"] {
                let answer = by(user, "/free");
                assert_eq!((answer.status, answer.fields()), (200, vec![]), "{framework} {user}");
            }
            assert_eq!(by("ann", "/health").status, 200, "{framework}: 9 of 9");
        },
    );
}
