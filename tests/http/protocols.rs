//! In which protocol a request is refused, and who may keep the answer: what a client says of itself decides
//! neither.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{Method, Request, Version};
use bytes::Bytes;
use http_body_util::Full;
use ratelimit_kit::{
    Algorithm, ErrorResponses, LimitKey, Limiter, OnError, RateLimitError, RateLimitLayer,
    RequestContext, Rule, rate_limit,
};
use tower::{Layer, ServiceExt, service_fn};

use crate::contexts::layer;
use crate::support::client::{Answer, ask, get};
use crate::support::site::Site;
use crate::support::{limiter, without_a_store};

type Response = axum::http::Response<Full<Bytes>>;

fn rule(limit: u64) -> Rule {
    let window = Duration::from_mins(1);
    Rule::new("protocols", Algorithm::FixedWindow { limit, window })
}

fn everybody(_: &RequestContext) -> LimitKey {
    LimitKey::from("all")
}

/// A layer whose budget is used up before the first request.
fn used_up() -> RateLimitLayer {
    RateLimitLayer::new().limiter(limiter()).limit(rule(0), everybody)
}

/// What a request looks like that somebody calls gRPC, over HTTP/1.1.
const LOOKS_LIKE: [&str; 6] = [
    "application/grpc",
    "application/grpc; x=<b>",
    "application/grpc+proto",
    "application/grpc-web",
    "application/grpc-web+proto",
    "application/grpc-web-text",
];

#[test]
fn a_header_makes_no_grpc_of_a_request() {
    let site = || {
        let all = used_up().error_responses(ErrorResponses::code_and_message());
        Site::new(limiter(), all)
    };
    Site::everywhere(site, |framework, address| {
        for method in ["GET", "HEAD", "POST", "DELETE", "PUT"] {
            for media_type in LOOKS_LIKE {
                let request = ask(method, "/free").header("content-type", media_type);
                let answer = request.header("te", "trailers").to(address);
                let what = format!("{framework} {method} {media_type}: {answer:?}");
                assert_eq!(answer.status, 429, "{what}");
                assert_eq!(answer.header("content-type"), "application/json", "{what}");
                assert!(!answer.headers.contains_key("grpc-status"), "{what}");
                if method != "HEAD" {
                    assert_eq!(answer.body, r#"{"code":429,"message":"too many requests"}"#);
                }
            }
        }
    });
}

/// A rule of the layer, one of a handler, and both when no store answers.
#[test]
fn no_refusal_is_kept() {
    #[track_caller]
    fn is_not_kept(answer: &Answer, status: u16) {
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
    }
    let grpc = |path| get(path).header("content-type", "application/grpc");
    let mistake = |key: fn(&RequestContext) -> LimitKey| {
        let layer = layer().peer(|_| None).limiter(limiter()).limit(rule(1), key);
        Site::new(limiter(), layer)
    };
    let closed = || {
        let rule = rule(1).with_on_error(OnError::Closed);
        Site::new(limiter(), layer().limiter(without_a_store()).limit(rule, everybody))
    };
    let is = |site: &dyn Fn() -> Site, status| {
        Site::everywhere(site, |_, address| {
            is_not_kept(&get("/free").to(address), status);
            is_not_kept(&grpc("/free").to(address), status);
        });
    };
    is(&|| Site::new(limiter(), used_up()), 429);
    is(&closed, 503);
    is(&|| mistake(|_| LimitKey::from("")), 400);
    is(&|| mistake(RequestContext::ip_key), 500);
    // Of handlers.
    Site::everywhere(
        || Site::new(limiter(), layer()),
        |framework, address| {
            for status in [200, 200, 429] {
                let answer = get("/ip").to(address);
                assert_eq!(answer.status, status, "{framework}");
                let kept = answer.headers.get("cache-control").map(String::as_str);
                assert_eq!(kept, (status == 429).then_some("no-store"), "{framework}");
            }
            is_not_kept(&grpc("/ip").to(address), 429);
            is_not_kept(&get("/costly").to(address), 400);
        },
    );
    Site::everywhere(
        || Site::new(without_a_store(), layer()),
        |_, address| is_not_kept(&get("/ip").to(address), 503),
    );
    Site::everywhere(
        || Site::without_layer(limiter()),
        |_, address| is_not_kept(&get("/ip").to(address), 500),
    );
}

/// What a service of plain HTTP behind the layer answers to a request.
async fn answer(layer: RateLimitLayer, request: Request<()>) -> Response {
    let behind = service_fn(async |_: Request<()>| {
        Ok::<_, Infallible>(Response::new(Full::from("let through")))
    });
    layer.layer(behind).oneshot(request).await.unwrap()
}

/// gRPC as its clients speak it.
fn native(media_type: &str) -> Request<()> {
    let request = Request::builder().method(Method::POST).uri("/pkg.Service/Method");
    let request = request.version(Version::HTTP_2).header("te", "trailers");
    request.header("content-type", media_type).body(()).unwrap()
}

/// gRPC-Web as browsers speak it.
fn web(media_type: &str) -> Request<()> {
    let request = Request::builder().method(Method::POST).uri("/pkg.Service/Method");
    request.header("content-type", media_type).body(()).unwrap()
}

/// The media type of the answer if it is one of gRPC, and none if it is one of HTTP.
async fn refused_as(layer: &RateLimitLayer, request: Request<()>) -> Option<String> {
    let answer = answer(layer.clone(), request).await;
    let header =
        |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(header("cache-control").as_deref(), Some("no-store"), "{answer:?}");
    if let Some(status) = header("grpc-status") {
        assert_eq!((answer.status().as_u16(), &*status), (200, "8"), "{answer:?}");
        header("content-type")
    } else {
        assert_eq!(answer.status(), 429, "{answer:?}");
        assert_eq!(header("content-type").as_deref(), Some("application/problem+json"));
        None
    }
}

#[tokio::test]
async fn grpc_is_answered_where_it_is_spoken() {
    let layer = used_up();
    let grpc = |media_type| refused_as(&layer, native(media_type));
    let ours = Some("application/grpc".to_owned());
    for media_type in [
        "application/grpc",
        "application/grpc+proto",
        "Application/gRPC+json",
        "application/grpc;charset=utf-8",
        "application/grpc ; x=<b>",
    ] {
        assert_eq!(grpc(media_type).await, ours, "{media_type}: its text is not repeated");
    }
    for media_type in [
        "application/grpcx",
        "application/grpc-",
        "application/json",
        "",
        "grpc",
        "application/grp",
    ] {
        assert_eq!(grpc(media_type).await, None, "{media_type}");
    }
    // Each part of it is needed.
    type Change = fn(&mut Request<()>);
    let without: [Change; 6] = [
        |of| *of.method_mut() = Method::GET,
        |of| *of.method_mut() = Method::PUT,
        |of| *of.version_mut() = Version::HTTP_11,
        |of| drop(of.headers_mut().remove("te")),
        |of| drop(of.headers_mut().insert("te", "gzip".parse().unwrap())),
        |of| drop(of.headers_mut().remove("content-type")),
    ];
    for (n, change) in without.iter().enumerate() {
        let mut request = native("application/grpc");
        change(&mut request);
        assert_eq!(refused_as(&layer, request).await, None, "{n}");
    }
    for media_type in ["application/grpc-web", "application/grpc-web-text+proto"] {
        assert_eq!(refused_as(&layer, web(media_type)).await, None, "{media_type}");
    }
}

#[tokio::test]
async fn the_application_says_which_side_is_grpc() {
    let none = used_up().grpc(|_| false);
    assert_eq!(refused_as(&none, native("application/grpc")).await, None);
    let side = used_up().grpc(|request| request.path().starts_with("/pkg.Service/"));
    let media_types = [
        ("application/grpc", "application/grpc"),
        ("application/grpc+proto", "application/grpc"),
        ("application/grpc-web", "application/grpc-web+proto"),
        ("application/grpc-web+json; x=<b>", "application/grpc-web+proto"),
        ("application/grpc-web-text", "application/grpc-web-text+proto"),
        ("application/grpc-web-text+proto", "application/grpc-web-text+proto"),
    ];
    for (media_type, ours) in media_types {
        // A proxy for gRPC-Web may make HTTP/1.1 of it.
        assert_eq!(refused_as(&side, web(media_type)).await.as_deref(), Some(ours));
        let elsewhere = |mut request: Request<()>| {
            *request.uri_mut() = "/page".parse().unwrap();
            request
        };
        assert_eq!(refused_as(&side, elsewhere(web(media_type))).await, None);
        assert_eq!(refused_as(&side, elsewhere(native(media_type))).await, None);
        let mut got = web(media_type);
        *got.method_mut() = Method::GET;
        assert_eq!(refused_as(&side, got).await, None, "gRPC is POST");
    }
    assert_eq!(refused_as(&side, web("application/json")).await, None);
}

/// An inner layer goes by what the outer one says, unless it says something itself.
#[tokio::test]
async fn inner_layers_speak_as_the_outer_one() {
    type Says = fn(RateLimitLayer) -> RateLimitLayer;
    let nothing: Says = |layer| layer;
    let yes: Says = |layer| layer.grpc(|_| true);
    let no: Says = |layer| layer.grpc(|_| false);
    for (outer, inner, is_web, is_native) in [
        (nothing, nothing, false, true),
        (yes, nothing, true, true),
        (no, nothing, false, false),
        (nothing, yes, true, true),
        (no, yes, true, true),
        (yes, no, false, false),
    ] {
        for (request, is_grpc) in
            [(web("application/grpc-web"), is_web), (native("application/grpc"), is_native)]
        {
            let behind =
                service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::default()));
            let service = outer(RateLimitLayer::new()).layer(inner(used_up()).layer(behind));
            let answer: Response = service.oneshot(request).await.unwrap();
            assert_eq!(answer.status() == 200, is_grpc, "{answer:?}");
        }
    }
}

/// A handler makes an answer of its own when it is refused, or goes on with something else: that is for this
/// client as well.
#[tokio::test]
async fn what_is_answered_instead_is_not_kept() {
    #[rate_limit(
        name = "instead",
        algo = fixed_window,
        limit = none,
        window = 60,
        limiter = limiter,
        on_limited = "yesterday's",
    )]
    async fn news(limiter: Limiter, none: u32) -> &'static str {
        "today's"
    }
    let page = |own: Option<&'static str>| {
        service_fn(move |_: Request<()>| async move {
            let mut response = Response::new(Full::from(news(limiter(), 0).await));
            if let Some(own) = own {
                response.headers_mut().insert("cache-control", own.parse().unwrap());
            }
            Ok::<_, Infallible>(response)
        })
    };
    for layer in [RateLimitLayer::new(), RateLimitLayer::new().headers([])] {
        for (own, seen) in [(None, "no-store"), (Some("max-age=1"), "max-age=1")] {
            let answer: Response = layer.layer(page(own)).oneshot(Request::new(())).await.unwrap();
            assert_eq!(answer.status(), 200);
            assert_eq!(answer.headers()["cache-control"], seen);
        }
    }
}

/// What caches share among all clients says nothing of one of them.
#[tokio::test]
async fn what_all_may_share_has_no_fields_of_one() {
    let page = |own: Option<&'static str>| {
        service_fn(move |_: Request<()>| async move {
            let mut response = Response::new(Full::from("page"));
            if let Some(own) = own {
                response.headers_mut().insert("cache-control", own.parse().unwrap());
            }
            Ok::<_, Infallible>(response)
        })
    };
    for (own, has_fields) in [
        (None, true),
        (Some("max-age=60"), false),
        (Some("max-age=60, must-revalidate"), false),
        (Some("immutable, max-age=60"), false),
        (Some("private"), true),
        (Some("max-age=60, private"), true),
        (Some("no-store"), true),
        (Some("no-cache"), true),
        (Some("private, x=\"public\""), true),
        (Some("public, max-age=60"), false),
        (Some("max-age=1,S-MaxAge=60"), false),
    ] {
        let layer = RateLimitLayer::new().limiter(limiter()).limit(rule(9), everybody);
        let answer: Response = layer.layer(page(own)).oneshot(Request::new(())).await.unwrap();
        assert_eq!(answer.headers().contains_key("ratelimit"), has_fields, "{own:?}");
        assert_eq!(answer.headers().contains_key("ratelimit-policy"), has_fields, "{own:?}");
        // Whether the page is kept is its author's to say.
        let kept = answer.headers().get("cache-control").map(|value| value.to_str().unwrap());
        assert_eq!(kept, own);
    }
}

/// The error that handlers convert by themselves.
#[test]
fn the_response_of_an_error_is_not_kept() {
    let layer = used_up();
    let service =
        layer.layer(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::default())));
    let answer = pollster::block_on(service.oneshot(Request::new(()))).unwrap();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    #[rate_limit(algo = fixed_window, limit = none, window = 60, limiter = limiter)]
    fn refused(limiter: &Limiter, none: u32) -> Result<(), RateLimitError> {
        Ok(())
    }
    let error = refused(&limiter(), 0).unwrap_err();
    assert_eq!(error.http_response().headers()["cache-control"], "no-store");
    let status = tonic::Status::from(error);
    assert_eq!(status.metadata().get("cache-control").unwrap(), "no-store");
}
