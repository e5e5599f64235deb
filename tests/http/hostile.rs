//! Requests of people who mean harm: nobody panics, nobody waits, nobody shares.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::http::{HeaderValue, Request, Response};
use pollster::block_on;
use ratelimit_kit::{ClientIp, Clock, Limiter, ManualClock, rate_limit};
use tower::{Layer, ServiceExt, service_fn};

use crate::client::get;
use crate::contexts::layer;
use crate::limiter;
use crate::site::Site;

/// What a hostile request may take: 5 ms. Builds without optimization take ten times as long as others
/// and more, so those get that.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 50 } else { 5 });

/// So many entries, and the one that counts.
fn long_list(entry: &str, last: &str) -> String {
    format!("{}{last}", entry.repeat(5_000))
}

#[test]
fn hostile_headers_over_sockets() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let ip = |value: &[u8]| get("/ip").header("x-forwarded-for", value).to(address).status;
            // The entry next to the proxy counts, whatever stands before it.
            let long = long_list("9.9.9.9,", "203.0.113.1");
            for status in [200, 200, 429] {
                assert_eq!(ip(long.as_bytes()), status, "{framework}");
            }
            // What is no address is nobody's: those who write it share the address that was seen.
            let own: [&[u8]; 6] =
                [b"", b",,,,", b"\xff\xfe", b"a\xc3\x28, \xf0\x9f", b"[", b"\"\\"];
            let statuses: Vec<u16> = own.iter().map(|value| ip(value)).collect();
            assert_eq!(statuses, [200, 200, 429, 429, 429, 429], "{framework}");
            // Many headers are one list.
            let repeated = (0..60).fold(get("/ip"), |ask, n| {
                ask.header("x-forwarded-for", format!("9.9.9.{n}, 127.0.0.1"))
            });
            let repeated = repeated.header("x-forwarded-for", "203.0.113.2");
            assert_eq!(repeated.times(3, address), [200, 200, 429], "{framework}");
        },
    );
}

#[test]
fn hostile_values_have_budgets_of_their_own() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let huge = |last: char| format!("{}{last}", "k".repeat(30_000));
            let values: Vec<Vec<u8>> = vec![
                b"\xff".to_vec(),
                b"\xfe".to_vec(),
                b"\xc3".to_vec(),
                "é".into(),
                "e\u{301}".into(),
                b"%FF".to_vec(),
                b"a:b".to_vec(),
                b"a".to_vec(),
                b"{a}".to_vec(),
                b"no%20key".to_vec(),
                huge('1').into(),
                huge('2').into(),
                huge('1').replace('k', "é").into(),
            ];
            for value in &values {
                let ask = get("/header").header("x-api-key", value);
                let shown = String::from_utf8_lossy(value).chars().take(9).collect::<String>();
                assert_eq!(ask.times(3, address), [200, 200, 429], "{framework}: {shown}");
            }
            // Of several headers the first counts, and an empty one is as good as none.
            let twice = |first: &str| {
                get("/header").header("x-api-key", first).header("x-api-key", "second").to(address)
            };
            assert_eq!(
                ["x", "x", "x"].map(|first| twice(first).status),
                [200, 200, 429],
                "{framework}"
            );
            assert_eq!(
                ["", "", ""].map(|first| twice(first).status),
                [200, 200, 429],
                "{framework}"
            );
            assert_eq!(get("/header").to(address).status, 429, "{framework}");
            // A user that is no text is nobody, for the extractor of these tests.
            let user = get("/user").header("x-user-id", b"\xff");
            assert_eq!(user.to(address).body, "anonymous", "{framework}");
        },
    );
}

/// The best of several: what else the machine does is not measured.
fn best_of(mut work: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..20).map(once).min().unwrap()
}

#[test]
fn the_walk_over_5000_entries_is_short() {
    let how = ClientIp::behind(["10.0.0.0/8", "2001:db8::/32"]).unwrap();
    let peer = "10.0.0.1".parse().unwrap();
    for (how, entry, last) in [
        (how.clone(), "10.0.0.2, ", "10.0.0.3"),
        (how.clone(), "\"[2001:db8::1]:80\" ,", "2001:db8::2"),
        (how.clone(), "\u{fffd},,", "\u{fffd}"),
        (how.clone().forwarded(), "for=\"[2001:db8::1]:80\";proto=https;by=_x, ", "for=10.0.0.3"),
        (how.clone().forwarded(), "\"\\\",;=for", ""),
    ] {
        let value = long_list(entry, last);
        let took = best_of(|| {
            std::hint::black_box(how.find(peer, [value.as_bytes()]));
        });
        assert!(took < LIMIT, "{took:?} for {entry:?}");
    }
}

#[rate_limit(
    name = "hostile",
    key = "@ip + @user ?: 'anonymous' + @header['x-api-key'] ?: 'none' + @path",
    capacity = 1_000_000,
    refill = 1,
    limiter = limiter,
)]
async fn all_of_it(limiter: Limiter) -> Result<(), ratelimit_kit::RateLimitError> {
    Ok(())
}

#[test]
fn a_hostile_request_is_decided_quickly() {
    let limiter = Limiter::builder().clock(Clock::Manual(ManualClock::new())).build().unwrap();
    let service =
        layer().peer(|_| "127.0.0.1".parse().ok()).layer(service_fn(move |_: Request<()>| {
            let limiter = limiter.clone();
            async move {
                all_of_it(limiter).await.unwrap();
                Ok::<_, Infallible>(Response::new(String::new()))
            }
        }));
    let value = |text: String| HeaderValue::from_bytes(text.as_bytes()).unwrap();
    let list = value(long_list("9.9.9.9, ", "127.0.0.1"));
    let long = value("é:{}% ".repeat(2_000));
    let took = best_of(|| {
        let request = Request::builder()
            .uri(format!("/{}", "p".repeat(10_000)))
            .header("x-forwarded-for", &list)
            .header("x-user-id", &long)
            .header("x-api-key", &long);
        let answer = block_on(service.clone().oneshot(request.body(()).unwrap()));
        assert_eq!(answer.unwrap().status(), 200);
    });
    assert!(took < LIMIT, "{took:?}");
}
