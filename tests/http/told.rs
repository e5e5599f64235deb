//! What clients get to see that the service has chosen: names, answers, waits.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::get as route;
use ratelimit_kit::{
    Algorithm, Clock, ErrorBody, ErrorResponses, Limiter, ManualClock, RateLimitError,
    RateLimitLayer, Rule, rate_limit,
};
use tonic_types::StatusExt as _;
use tower::ServiceExt as _;

use crate::grammar;
use crate::support::client::get;
use crate::support::site::{Site, serve_router};
use crate::support::{limiter, without_a_store};

fn hour(name: &str, limit: u64) -> Rule {
    Rule::named(name, Algorithm::FixedWindow { limit, window: Duration::from_hours(1) })
}

/// What `%XX` stands for.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        let escaped = std::str::from_utf8(behind.get(..2).unwrap_or_default()).ok();
        let code = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let code = code.filter(|_| *byte == b'%');
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn f36_names_in_any_script_are_shown_and_stay_apart() {
    #[rate_limit(name = "短信发送", key = "'a'", algo = fixed_window, limit = 5, window = 60, limiter = limiter())]
    #[rate_limit(name = "短信查询", key = "'b'", algo = fixed_window, limit = 6, window = 60)]
    #[rate_limit(key = "'c'", algo = fixed_window, limit = 7, window = 60)]
    async fn handler() -> Result<&'static str, RateLimitError> {
        Ok("sent")
    }
    let names = ["default", "%41", "A", "naïve", "a\"b\\c", "line\u{7f}"];
    let layer = names.iter().enumerate().fold(RateLimitLayer::new(), |layer, (n, name)| {
        layer.limit(hour(name, 10 + n as u64), |_| "all".into())
    });
    let router = Router::new().route("/", route(handler)).layer(layer.limiter(limiter()));
    let answer = get("/").to(serve_router(router));
    assert_eq!(answer.status, 200, "{answer:?}");
    for field in ["ratelimit", "ratelimit-policy"] {
        let items = grammar::list(answer.header(field)).unwrap();
        let shown: Vec<&str> = items.iter().map(|item| &*item.name).collect();
        assert_eq!(shown.len(), 9, "{shown:?}");
        assert_eq!(shown.iter().collect::<BTreeSet<_>>().len(), 9, "{shown:?}");
        for name in ["短信发送", "短信查询", "naïve", "%41", "A", "a\"b\\c"] {
            let meant = |shown: &&&str| unescaped(shown) == name;
            assert_eq!(shown.iter().filter(meant).count(), 1, "{name}: {shown:?}");
        }
        // The rule without a name, and the one that is called like it.
        assert!(shown.contains(&"default") && shown.contains(&"%64efault"), "{shown:?}");
        assert!(shown.contains(&"%E7%9F%AD%E4%BF%A1%E5%8F%91%E9%80%81"), "{shown:?}");
    }
}

/// However many rules there are, and however they are called, the fields get through.
#[test]
fn f36_long_names_do_not_make_long_fields() {
    let one = |n: usize| hour(&format!("{n}{}", "信".repeat(40)), 1_000 - n as u64);
    let layer =
        (0..60).fold(RateLimitLayer::new(), |layer, n| layer.limit(one(n), |_| "all".into()));
    let address = Site::new(limiter(), layer.limiter(limiter())).on_axum();
    let answer = get("/free").to(address);
    for field in ["ratelimit", "ratelimit-policy"] {
        let value = answer.header(field);
        assert!(value.len() <= 4_096, "{} bytes", value.len());
        let items = grammar::list(value).unwrap();
        assert!(items.len() >= 16, "{}", items.len());
        assert!(items.iter().all(|item| item.name.len() <= 128));
        // Those that stop the client first.
        let most = items.iter().filter_map(|item| item.get("r")).max();
        let kept = i64::try_from(items.len()).unwrap();
        assert!(most.is_none_or(|most| most == 939 + kept), "{most:?} {kept}");
    }
}

#[test]
fn f40_status_body_and_header_fields() {
    let answers = || {
        ErrorResponses::from_fn(|error| {
            let said = format!(r#"{{"code":{},"said":{}}}"#, error.http_status(), {
                ErrorBody::json_string("\"zu oft\"")
            });
            let body = ErrorBody::json(said).with_header("x-limited-by", "site");
            match error.http_status() {
                503 => body.with_status(502).with_header("retry-after", "7"),
                _ => body.with_status(200),
            }
        })
    };
    let layer = || RateLimitLayer::new().error_responses(answers());
    Site::everywhere(
        || {
            let rule = hour("f40", 3);
            Site::new(limiter(), layer().limiter(limiter()).limit(rule, |_| "all".into()))
        },
        |framework, address| {
            assert_eq!(get("/ip").to(address).body, "ip", "{framework}");
            assert_eq!(get("/ip").to(address).body, "ip", "{framework}");
            // The handler's rule, and then the layer's.
            for _ in 0..2 {
                let answer = get("/ip").to(address);
                assert_eq!(answer.status, 200, "{framework}");
                let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
                assert_eq!(body["code"], 429, "{framework}");
                assert_eq!(body["said"], "\"zu oft\"", "{framework}");
                assert_eq!(answer.header("x-limited-by"), "site", "{framework}");
                assert_eq!(answer.header("cache-control"), "no-store", "{framework}");
                assert!(answer.headers.contains_key("retry-after"), "{framework}");
            }
        },
    );
    Site::everywhere(
        || Site::new(without_a_store(), layer()),
        |framework, address| {
            let answer = get("/ip").to(address);
            assert_eq!(answer.status, 502, "{framework}");
            assert_eq!(answer.header("retry-after"), "7", "{framework}");
            assert!(answer.body.contains("503"), "{framework}");
        },
    );
}

/// What a refusal reports: `Retry-After`, and the wait in the fields.
fn refused(response: &axum::http::Response<Body>) -> (u64, u64) {
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    let reset = grammar::list(&header("ratelimit")).unwrap()[0].get("t").unwrap();
    (header("retry-after").parse().unwrap(), reset.try_into().unwrap())
}

/// Clients that wait exactly as long as reported, until each was served once: the reported waits, by
/// how long the wait was.
fn until_all_are_served(percent: u8) -> Vec<(Duration, u64)> {
    let clock = ManualClock::new();
    let limiter = Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap();
    let window = Duration::from_secs(10);
    let rule = Rule::named("b156", Algorithm::FixedWindow { limit: 10, window });
    let layer = RateLimitLayer::new().limiter(limiter).limit(rule, |_| "all".into());
    let app = Router::new().route("/", route(async || "served")).layer(layer.spread_waits(percent));
    let mut waiting: Vec<u64> = vec![0; 100];
    let (mut told, mut now, mut opened) = (Vec::new(), 0, None);
    while !waiting.is_empty() {
        let next = *waiting.iter().min().unwrap();
        clock.advance(Duration::from_secs(next - now));
        now = next;
        let due = waiting.iter().filter(|at| **at == now).count();
        waiting.retain(|at| *at != now);
        for _ in 0..due {
            let request = Request::new(Body::empty());
            let response = pollster::block_on(app.clone().oneshot(request)).unwrap();
            if response.status() == 200 {
                opened = opened.filter(|at| now < at + 10).or(Some(now));
                continue;
            }
            let (wait, reset) = refused(&response);
            assert_eq!(wait, reset, "one answer says one thing");
            told.push((Duration::from_secs(opened.unwrap() + 10 - now), wait));
            waiting.push(now + wait);
        }
    }
    told
}

#[test]
fn b156_not_all_at_once() {
    let exact = until_all_are_served(0);
    assert!(exact.iter().all(|(wait, told)| wait.as_secs() == *told), "{exact:?}");
    // Ten windows, in each of which all who are left come at once.
    assert_eq!(exact.len(), (10..100).step_by(10).sum::<usize>());
    let spread = until_all_are_served(20);
    for (wait, told) in &spread {
        let (least, most) = (wait.as_secs(), wait.mul_f64(1.2).as_secs() + 1);
        assert!((least..=most).contains(told), "{told} for {wait:?}");
    }
    let first: BTreeSet<u64> = spread.iter().take(90).map(|(_, told)| *told).collect();
    assert!(first.len() >= 3, "{first:?}");
}

/// The error has the exact wait; for a body of one's own there is the reported one.
#[test]
fn b156_the_errors_own_wait_is_exact() {
    let answers = ErrorResponses::from_fn(|error| {
        let told = error.retry_after_seconds().unwrap();
        ErrorBody::text(format!("{:?} {told}", error.retry_after().unwrap()))
    });
    let layer = RateLimitLayer::new().limiter(limiter()).error_responses(answers);
    let layer = layer.limit(hour("b156-own", 1), |_| "all".into()).spread_waits(100);
    let address = serve_router(Router::new().route("/", route(async || "x")).layer(layer));
    assert_eq!(get("/").to(address).status, 200);
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let answer = get("/").to(address);
        let (exact, told) = answer.body.split_once(' ').unwrap();
        assert_eq!((exact, told), ("3600s", answer.header("retry-after")));
        let told: u64 = told.parse().unwrap();
        assert!((3_600..=7_200).contains(&told), "{told}");
        seen.insert(told);
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// gRPC says more than whole seconds.
#[test]
fn b156_over_grpc() {
    #[rate_limit(name = "b156-grpc", algo = fixed_window, limit = 1, window = "1h", limiter = limiter)]
    fn limited(limiter: &Limiter) -> Result<(), tonic::Status> {
        Ok(())
    }
    let limiter = limiter();
    let handler = async move || match limited(&limiter) {
        Ok(()) => "admitted".to_owned(),
        Err(status) => {
            let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
            wait.as_millis().to_string()
        }
    };
    let layer = RateLimitLayer::new().spread_waits(50);
    let address = serve_router(Router::new().route("/", route(handler)).layer(layer));
    assert_eq!(get("/").to(address).body, "admitted");
    let told: BTreeSet<u64> = (0..20).map(|_| get("/").to(address).body.parse().unwrap()).collect();
    assert!(told.len() > 10, "{told:?}");
    assert!(told.iter().all(|ms| (3_600_000..=5_400_000).contains(ms)), "{told:?}");
}
