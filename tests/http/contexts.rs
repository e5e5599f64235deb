//! `@ip`, `@user` and the like in the keys of handlers, on every framework.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request as Extract;
use axum::extract::connect_info::MockConnectInfo;
use axum::http::HeaderValue;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use ratelimit_kit::{
    Algorithm, ClientIp, LimitKey, Rate, RateLimitError, RateLimitLayer, RequestContext,
    RequestInfo, Rule, rate_limit,
};
use test_support::Log;
use tower::ServiceExt;

use crate::support::client::{self, Ask, ask, get};
use crate::support::limiter;
use crate::support::site::Site;

/// A layer that knows all there is to know.
pub(crate) fn layer() -> RateLimitLayer {
    let header =
        |name: &'static str| move |of: &RequestInfo<'_>| of.header(name).map(str::to_owned);
    RateLimitLayer::new()
        .client_ip(ClientIp::behind(["127.0.0.1"]).unwrap())
        .user(header("x-user-id"))
        .tenant(header("x-tenant"))
        .device(header("x-device"))
}

/// Two requests of each pass, and the third does not: nobody shares with another.
#[track_caller]
fn each_has_its_own(framework: &str, address: SocketAddr, asks: &[Ask]) {
    for _ in 0..2 {
        for ask in asks {
            assert_eq!(ask.to(address).status, 200, "{framework}: {ask:?}");
        }
    }
    for ask in asks {
        let third = ask.to(address);
        assert_eq!(third.status, 429, "{framework}: {ask:?}");
        third.is_refusal();
    }
}

#[test]
fn what_is_known_of_a_request_is_in_keys() {
    let site = || Site::new(limiter(), layer());
    Site::everywhere(site, |framework, address| {
        let with = |path, name, values: &[&str]| -> Vec<Ask> {
            values.iter().map(|value| get(path).header(name, value)).collect()
        };
        let each = |asks: &[Ask]| each_has_its_own(framework, address, asks);
        let mut ips =
            with("/ip", "x-forwarded-for", &["203.0.113.1", "203.0.113.2", "2001:db8::1"]);
        ips.push(get("/ip"));
        each(&ips);
        assert_eq!(get("/ip").header("X-Forwarded-For", "2001:db8::2").to(address).status, 429);
        for (path, name) in
            [("/user", "x-user-id"), ("/tenant", "x-tenant"), ("/device", "x-device")]
        {
            let mut asks = with(path, name, &["a", "b", "a b", "a%20b", "é"]);
            // Without one, and with an empty one, they share what is for all those.
            asks.push(get(path));
            each(&asks);
            assert_eq!(get(path).header(name, "").to(address).status, 429, "{framework}");
        }
        each(&[get("/path/a"), get("/path/b"), get("/path/A")]);
        assert_eq!(get("/path/a?b").to(address).status, 429, "{framework}");
        each(&[get("/method"), ask("POST", "/method"), ask("PATCH", "/method")]);
        let mut keys = with("/header", "X-API-KEY", &["k1", "k2", "no%20key"]);
        keys.push(get("/header"));
        each(&keys);
    });
}

#[test]
fn the_body_knows_who_asks_too() {
    let site = || Site::new(limiter(), layer());
    Site::everywhere(site, |framework, address| {
        let answer = get("/user").header("x-user-id", "ann").to(address);
        assert_eq!(answer.body, "ann", "{framework}");
    });
}

#[test]
fn without_a_layer_there_is_no_budget_to_share() {
    let site = || Site::without_layer(limiter());
    Site::everywhere(site, |framework, address| {
        for path in ["/ip", "/user", "/tenant", "/device", "/path/a", "/method", "/header"] {
            for _ in 0..4 {
                let answer = get(path).header("x-user-id", "ann").to(address);
                assert_eq!(answer.status, 500, "{framework} {path}");
                answer.is_our_mistake();
            }
        }
        // What needs no context does not miss it.
        assert_eq!(get("/ten").to(address).status, 200, "{framework}");
    });
}

/// A 500 says nothing to clients; who runs the service finds out from the log, and in one line.
#[test]
fn what_is_missing_is_logged_once() {
    #[rate_limit(name = "contexts-logged", key = "@ip", capacity = 5, refill = 1)]
    fn limited() -> Result<(), RateLimitError> {
        Ok(())
    }
    let log = Log::default();
    log.during(|| {
        for _ in 0..100 {
            assert_eq!(limited().unwrap_err().http_status(), 500);
        }
    });
    let lines = log.lines("calls are rejected");
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in ["ERROR", "`contexts-logged`", "is a layer around", "Messages of a connection"] {
        assert!(lines[0].contains(part), "{part}: {lines:?}");
    }
}

/// Numbers that cannot be name no rule by themselves.
#[test]
fn numbers_that_cannot_be_are_logged_once() {
    #[rate_limit(name = "contexts-large", algo = fixed_window, limit = u64::MAX - of, window = 60)]
    fn large(of: u64) -> Result<(), RateLimitError> {
        Ok(())
    }
    #[rate_limit(name = "contexts-negative", algo = fixed_window, limit = -of, window = 60)]
    fn negative(of: i32) -> Result<(), RateLimitError> {
        Ok(())
    }
    let log = Log::default();
    log.during(|| {
        for _ in 0..100 {
            assert_eq!(large(1).unwrap_err().http_status(), 500);
            assert_eq!(negative(1).unwrap_err().http_status(), 500);
        }
    });
    let lines = log.lines("calls are rejected");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, parts) in lines.iter().zip([
        ["contexts-large", "more than the maximum"],
        ["contexts-negative", "cannot be negative"],
    ]) {
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}: {line}");
    }
}

#[test]
fn without_the_peer_only_its_address_is_missing() {
    let site = || Site {
        // actix-web always knows.
        layer: Some(layer().peer(|of| of.header("x-peer").and_then(|peer| peer.parse().ok()))),
        ..Site::without_layer(limiter())
    };
    Site::everywhere(site, |framework, address| {
        for _ in 0..4 {
            // No peer, no proxy that could be trusted.
            get("/ip").header("x-forwarded-for", "203.0.113.1").to(address).is_our_mistake();
        }
        assert_eq!(get("/user").times(3, address), [200, 200, 429], "{framework}");
        let with_peer = get("/ip").header("x-peer", "192.0.2.1");
        assert_eq!(with_peer.times(3, address), [200, 200, 429], "{framework}");
    });
    // axum and hyper without the peer's address in the request.
    let site = Site { knows_peer: false, ..Site::new(limiter(), layer()) };
    let address = site.on_axum();
    get("/ip").to(address).is_our_mistake();
    assert_eq!(get("/user").to(address).status, 200);
}

/// What axum has for tests.
#[tokio::test]
async fn a_peer_that_is_a_mock() {
    let ip =
        || axum::routing::get(async || format!("{:?}", RequestContext::current().unwrap().ip()));
    let mock = MockConnectInfo(SocketAddr::from(([192, 0, 2, 1], 4711)));
    let app = Router::new().route("/", ip()).layer(RateLimitLayer::new()).layer(mock);
    let request = axum::http::Request::get("/").body(axum::body::Body::empty()).unwrap();
    let response = app.oneshot(request).await.unwrap();
    let body = axum::body::to_bytes(response.into_body(), 1_000).await.unwrap();
    assert_eq!(&body[..], b"Some(192.0.2.1)");
}

#[test]
fn however_a_path_is_written_it_is_one_budget() {
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            let written = ["/path/ab", "/path/%61b", "/path/a%62", "/path/%61%62", "/path/ac"];
            let statuses = written.map(|path| get(path).to(address).status);
            assert_eq!(statuses, [200, 200, 429, 429, 200], "{framework}");
        },
    );
}

#[test]
fn spawned_work_takes_the_context_along() {
    let site = || Site::new(limiter(), layer());
    Site::everywhere(site, |framework, address| {
        let from = |path: &str, ip: &str| get(path).header("x-forwarded-for", ip).to(address);
        // Told, it takes from the budget of whoever asked, and the client hears of it.
        let first = from("/spawned", "203.0.113.1");
        assert_eq!((first.status, first.header("ratelimit")), (200, r#""ip";r=1;t=60"#));
        assert_eq!(from("/ip", "203.0.113.1").status, 200);
        assert_eq!(from("/spawned", "203.0.113.1").status, 429);
        assert_eq!(from("/spawned", "203.0.113.2").status, 200);
        // Not told, it is a mistake, and no budget.
        for _ in 0..4 {
            let lost = from("/lost", "203.0.113.3");
            assert_eq!(lost.status, 500, "{framework}");
        }
        assert_eq!(from("/ip", "203.0.113.3").status, 200, "{framework}");
    });
}

/// axum cuts the path for routers inside of others, and for layers in them.
#[test]
fn paths_are_whole_inside_of_routers() {
    let path = || {
        axum::routing::get(async || {
            RequestContext::current().and_then(|context| context.path().map(str::to_owned)).unwrap()
        })
    };
    let inner = || Router::new().route("/c", path()).layer(RateLimitLayer::new());
    let router = Router::new().nest("/a", inner()).nest("/b", Router::new().nest("/b", inner()));
    let address = crate::support::site::serve_router(router);
    assert_eq!(client::get("/a/c?d").to(address).body, "/a/c");
    assert_eq!(client::get("/b/b/c").to(address).body, "/b/b/c");
}

/// A handler may ask its own router for something: that is a request of its own.
#[test]
fn a_request_within_a_request_is_another_one() {
    let seen = || {
        axum::routing::get(async || {
            let context = RequestContext::current().unwrap();
            let path = context.path().unwrap().to_owned();
            format!("{path} {:?} {:?}", context.user(), context.header("x-n"))
        })
    };
    let user = |of: &RequestInfo<'_>| of.header("x-user-id").map(str::to_owned);
    let inner = Router::new().route("/b", seen()).layer(RateLimitLayer::new().user(user));
    let ask = inner.clone();
    let outer = async move || {
        let request = axum::http::Request::get("/b").header("x-n", "2");
        let response = ask.oneshot(request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), 1_000).await.unwrap();
        let context = RequestContext::current().unwrap();
        let own = format!("{} {:?}", context.path().unwrap(), context.user());
        format!("{own}, {}", String::from_utf8(body.to_vec()).unwrap())
    };
    let router = Router::new().route("/a", axum::routing::get(outer));
    let router = router.layer(RateLimitLayer::new().user(user));
    let address = crate::support::site::serve_router(router);
    let answer = client::get("/a").header("x-user-id", "ann").header("x-n", "1").to(address);
    assert_eq!(answer.body, r#"/a Some("ann"), /b None Some([50])"#);
}

/// A middleware between two layers removes what clients may not say: then no key says it either.
#[tokio::test]
async fn headers_are_as_they_come_to_the_inner_layer() {
    async fn checked(mut request: Extract, next: Next) -> Response {
        request.headers_mut().insert("x-tier", HeaderValue::from_static("free"));
        next.run(request).await
    }
    let tier = |context: &RequestContext| {
        LimitKey::from(
            String::from_utf8_lossy(context.header("x-tier").unwrap_or_default()).into_owned(),
        )
    };
    let rule =
        Rule::new("tier", Algorithm::TokenBucket { capacity: 2, refill: Rate::per_second(1) });
    let inner = RateLimitLayer::new().limiter(limiter()).limit(rule, tier);
    let app = Router::new()
        .route("/", axum::routing::get(async || "ok"))
        .layer(inner)
        .layer(from_fn(checked))
        .layer(RateLimitLayer::new());
    let mut statuses = Vec::new();
    for forged in ["a", "b", "c"] {
        let request = axum::http::Request::get("/").header("x-tier", forged);
        let request = request.body(axum::body::Body::empty()).unwrap();
        statuses.push(app.clone().oneshot(request).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 429]);
}
