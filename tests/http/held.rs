//! What strangers have tried without success: it must go on to fail.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use axum::Json;
use axum::Router;
use axum::routing::post;
use ratelimit_kit::{Limiter, RateLimitError, RateLimitLayer, RequestContext, rate_limit, testing};
use serde::Deserialize;
use test_support::Log;

use crate::contexts::layer;
use crate::support::client::{get, send};
use crate::support::site::{Site, serve_router};
use crate::support::{limiter, without_a_store};

/// Sends these bytes; the status of the answer, or 0 where the connection ends without one.
fn status_of(bytes: &[u8], address: SocketAddr) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    // A server may close before it has read all of it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let line = answer.split(|byte| *byte == b' ').nth(1).map(<[u8]>::to_vec);
    line.and_then(|status| String::from_utf8(status).ok()?.parse().ok()).unwrap_or_default()
}

#[test]
fn however_ipv6_is_written_it_is_one_client() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let ask =
                |written: &str| get("/ip").header("x-forwarded-for", written).to(address).status;
            assert_eq!(["2001:db8::1", "2001:DB8::1"].map(ask), [200, 200], "{framework}");
            for written in [
                "2001:0db8:0000:0000:0000:0000:0000:0001",
                "[2001:db8::1]",
                "[2001:db8::1]:443",
                "2001:db8::1%eth0",
                "2001:db8::ffff:ffff:ffff:ffff",
                "2001:db8:0:0::203.0.113.7",
            ] {
                assert_eq!(ask(written), 429, "{framework} {written}");
            }
            assert_eq!(ask("2001:db8:0:1::1"), 200, "{framework}");
        },
    );
}

/// What other readers take for an address is none, and the proxy that wrote it is the client.
#[test]
fn what_is_no_address_is_the_proxys() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let ask =
                |written: &str| get("/ip").header("x-forwarded-for", written).to(address).status;
            let written = ["08.8.8.8", "8.8.8.8.", "0x8.8.8.8", "134744072", "8.8.8"];
            assert_eq!(written.map(ask), [200, 200, 429, 429, 429], "{framework}");
            assert_eq!(get("/ip").to(address).status, 429, "{framework}");
            assert_eq!(ask("8.8.8.8"), 200, "{framework}");
        },
    );
}

/// Request lines that few clients send: somebody answers, and it is no fault of ours.
#[test]
fn odd_requests_are_no_fault_of_ours() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let long = format!("GET /{} HTTP/1.1", "p".repeat(60_000));
            for line in [
                "OPTIONS * HTTP/1.1",
                "CONNECT a:80 HTTP/1.1",
                "PRI * HTTP/1.1",
                "GET http://x/method HTTP/1.1",
                "GET /method HTTP/1.0",
                "GET /%00%ff%zz HTTP/1.1",
                "GET /path/%2e%2e/x HTTP/1.1",
                "get /method HTTP/1.1",
                &long,
            ] {
                let request = format!("{line}\r\nhost: x\r\nconnection: close\r\n\r\n");
                let status = status_of(request.as_bytes(), address);
                assert_ne!(status, 500, "{framework} {}", &line[..line.len().min(40)]);
            }
            // And the service goes on.
            assert_eq!(get("/free").to(address).status, 200, "{framework}");
            // In absolute form it is the same path.
            let whole = b"GET http://x/path/q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let statuses = [
                status_of(whole, address),
                get("/path/q?a").to(address).status,
                status_of(whole, address),
            ];
            assert_eq!(statuses, [200, 200, 429], "{framework}");
        },
    );
}

/// The method and the path of a context stand beside the headers, under names that no header can have.
#[test]
fn a_context_cannot_be_forged() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            for header in [":path: /path/other", ":method: FOO", " :path: x"] {
                let request = format!(
                    "GET /path/forged HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{header}\r\n\r\n"
                );
                assert_eq!(status_of(request.as_bytes(), address), 400, "{framework} {header}");
            }
            assert_eq!(get("/path/forged").times(3, address), [200, 200, 429], "{framework}");
        },
    );
}

#[derive(Deserialize)]
struct Message {
    phone: String,
    tenant: Option<String>,
}

#[rate_limit(
    name = "held",
    key = "[message.tenant ?: 'none', trim(message.phone)]",
    algo = fixed_window,
    limit = 2,
    window = 60
)]
async fn message(Json(message): Json<Message>) -> Result<&'static str, RateLimitError> {
    let _ = message;
    Ok("sent")
}

fn serve(limiter: Limiter) -> SocketAddr {
    let scope = axum::middleware::from_fn(
        move |request: axum::extract::Request, next: axum::middleware::Next| {
            let limiter = limiter.clone();
            async move { testing::with_limiter_async(&limiter, next.run(request)).await }
        },
    );
    serve_router(Router::new().route("/", post(message)).layer(RateLimitLayer::new()).layer(scope))
}

#[test]
fn bodies_make_no_keys_by_accident() {
    let address = serve(limiter());
    let statuses = |json: &str| [(); 3].map(|()| send(address, "/", Some(json)).status);
    assert_eq!(statuses(r#"{"phone":"1","phone":"2"}"#), [422; 3], "twice");
    assert_eq!(statuses(r#"{"phone":null}"#), [422; 3], "null");
    assert_eq!(statuses("{}"), [422; 3], "missing");
    assert_eq!(statuses(r#"{"phone":""}"#), [400; 3], "empty");
    assert_eq!(statuses(r#"{"phone":"   "}"#), [400; 3], "blank");
    assert_eq!(statuses(r#"{"phone":"1","tenant":null}"#), [200, 200, 429]);
    assert_eq!(statuses(r#"{"phone":" 1\u00a0","tenant":""}"#), [429; 3], "blanks go with `trim`");
    // Two values do not run into each other.
    assert_eq!(statuses(r#"{"phone":"b:1","tenant":"a"}"#), [200, 200, 429]);
    assert_eq!(statuses(r#"{"phone":"1","tenant":"a:b"}"#), [200, 200, 429]);
}

/// Values of a request are in no line of the log, and in no answer.
#[test]
fn nothing_of_a_request_is_told_to_others() {
    #[rate_limit(
        name = "held-told",
        key = "[@user ?: 'none', @header['x-api-key'] ?: 'none', @path, @method]",
        algo = fixed_window,
        limit = 2,
        window = 60,
        cost = cost,
        limiter = limiter,
    )]
    fn limited(limiter: &Limiter, cost: i32) -> Result<(), RateLimitError> {
        Ok(())
    }
    let secret = "s3cret";
    let context = RequestContext::builder()
        .user(secret)
        .header("x-api-key", secret)
        .path(secret)
        .method(secret);
    let log = Log::default();
    let errors: Vec<RateLimitError> = context.build().scope_blocking(|| {
        log.during(|| {
            let (there, away) = (limiter(), without_a_store());
            let calls =
                [(&there, 1), (&there, 1), (&there, 1), (&there, 3), (&there, -1), (&away, 1)];
            calls.iter().filter_map(|(limiter, cost)| limited(limiter, *cost).err()).collect()
        })
    });
    assert_eq!(
        errors.iter().map(RateLimitError::http_status).collect::<Vec<_>>(),
        [429, 400, 400, 503]
    );
    for error in errors {
        let response = error.http_response();
        let told = format!("{error} {error:?} {response:?}");
        let all = format!("{told} {:?}", tonic::Status::from(error));
        assert!(!all.contains(secret), "{all}");
    }
    assert!(log.lines(secret).is_empty());
}

/// A body that the layer does not read: the client sees the refusal.
#[test]
fn a_refusal_comes_before_a_large_body() {
    let window = std::time::Duration::from_mins(1);
    let rule = ratelimit_kit::Rule::new(
        "held-none",
        ratelimit_kit::Algorithm::FixedWindow { limit: 0, window },
    );
    let refusing = RateLimitLayer::new().limiter(limiter()).limit(rule, |_| "all".into());
    let address = Site::new(limiter(), refusing).on_axum();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(address).unwrap();
        let size = 20 << 20;
        write!(stream, "POST /method HTTP/1.1\r\nhost: x\r\ncontent-length: {size}\r\n\r\n")
            .unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 429");
    }
}
