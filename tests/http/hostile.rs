//! Requests of people who mean harm: nobody panics, nobody waits, nobody shares.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderValue, Request, Response};
use pollster::block_on;
use ratelimit_kit::{ClientIp, Limiter, rate_limit};
use rustix::time::{ClockId, clock_gettime};
use tower::{Layer, ServiceExt, service_fn};

use crate::contexts::layer;
use crate::support::client::get;
use crate::support::limiter;
use crate::support::site::Site;

/// What a hostile request may take, with little optimization.
const LIMIT: Duration = Duration::from_millis(5);

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

/// What the thread works on it: the best of several, since caches are shared with others. A clock on
/// the wall would measure what else the machine does.
fn work_of<T>(prepare: impl Fn() -> T, work: impl Fn(T)) -> Duration {
    let once = |_| {
        let prepared = prepare();
        let start = cpu_time();
        work(prepared);
        cpu_time().checked_sub(start).unwrap()
    };
    (0..10).map(once).min().unwrap()
}

/// How long this thread has been working.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Seven bytes, of which five are escaped one by one in a key.
const ESCAPED: &str = "é:{}% ";

/// Headers of people who mean harm, each under a name for the test.
fn hostile_headers() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let long = |entry: &str, last: &str| vec![long_list(entry, last).into_bytes()];
    let each = |value: &dyn Fn(usize) -> String| (0..5_000).map(|n| value(n).into()).collect();
    vec![
        ("entries", long("9.9.9.9, ", "127.0.0.1")),
        ("entries that are trusted", long("127.0.0.1, ", "127.0.0.1")),
        ("entries of IPv6", long("\"[2001:db8::1]:80\" ,", "127.0.0.1")),
        ("entries above 0x7f", vec![b"\xff\xfe\xc3, ".repeat(5_000)]),
        ("entries above 0x7f that are text", long("\u{fffd},,", "\u{fffd}")),
        ("empty entries", vec![b",".repeat(5_000)]),
        ("elements", long("for=9.9.9.9, ", "for=127.0.0.1")),
        ("elements that are trusted", long("for=127.0.0.1, ", "for=127.0.0.1")),
        (
            "elements with all there is",
            long("for=\"[2001:db8::1]:80\";proto=https;by=_x, ", "for=127.0.0.1"),
        ),
        ("elements without sense", long("\"\\\",;=for", "")),
        ("pairs", long("for=\"127.0.0.1\";", "")),
        (
            "an open quote",
            vec![[b"for=1.1.1.1;by=\"", &*b", for=127.0.0.1".repeat(5_000)].concat()],
        ),
        ("open quotes", long("for=\", ", "")),
        ("an endless quote", vec![[b"for=\"", &*b"\\1".repeat(30_000), b"\""].concat()]),
        ("an endless address", vec![b"1".repeat(60_000)]),
        ("endless colons", vec![b":".repeat(60_000)]),
        ("blanks", vec![[b"for=", &*b" ".repeat(60_000), b"1.1.1.1"].concat()]),
        ("empty headers", each(&|_| String::new())),
        ("headers", each(&|n| format!("for=127.0.0.{}", n % 256))),
        ("headers that are trusted", each(&|_| "127.0.0.1".to_owned())),
    ]
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
fn hostile_requests_are_decided_quickly() {
    let limiter = limiter();
    let behind = ClientIp::behind(["127.0.0.1", "2001:db8::/32"]).unwrap();
    let mut slow = Vec::new();
    for how in [behind.clone(), behind.with_forwarded()] {
        let name = how.header();
        let layer = layer().client_ip(how).peer(|_| "127.0.0.1".parse().ok());
        let limiter = limiter.clone();
        let service = layer.layer(service_fn(move |_: Request<()>| {
            let limiter = limiter.clone();
            async move {
                all_of_it(limiter).await.unwrap();
                Ok::<_, Infallible>(Response::new(String::new()))
            }
        }));
        let mut check = |what: &str, prepare: &dyn Fn() -> Request<()>| {
            let took = work_of(prepare, |request| {
                let answer = block_on(service.clone().oneshot(request));
                assert_eq!(answer.unwrap().status(), 200, "{what}");
            });
            if took >= LIMIT {
                slow.push(format!("{name}: {what}: {took:?}"));
            }
        };
        for (what, values) in hostile_headers() {
            let values: Vec<HeaderValue> =
                values.iter().map(|value| HeaderValue::from_bytes(value).unwrap()).collect();
            check(what, &|| {
                let mut request = Request::new(());
                for value in &values {
                    request.headers_mut().append(name, value.clone());
                }
                request
            });
        }
        let value = |text: String| HeaderValue::from_bytes(text.as_bytes()).unwrap();
        let (long, escaped) = (value("k".repeat(60_000)), value(ESCAPED.repeat(2_400)));
        let with =
            |name: &str, value: &HeaderValue| Request::builder().header(name, value).body(());
        for field in ["x-user-id", "x-api-key"] {
            check("a long value", &|| with(field, &long).unwrap());
            check("a long value of escapes", &|| with(field, &escaped).unwrap());
        }
        let path = |text: &str, n| Request::builder().uri(format!("/{}", text.repeat(n))).body(());
        check("a long path", &|| path("p", 60_000).unwrap());
        check("a long path of escapes", &|| path("%C3%a9", 10_000).unwrap());
        let rather_long = value(ESCAPED.repeat(1_200));
        check("much of all", &|| {
            let mut request = path("p", 10_000).unwrap();
            for name in ["x-user-id", "x-api-key", name] {
                request.headers_mut().insert(name, rather_long.clone());
            }
            request
        });
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
