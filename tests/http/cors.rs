//! Browsers: the layer is inside of what handles CORS. Then a preflight request takes from no budget,
//! and a page may read a refusal.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, Method, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use ratelimit_kit::{Algorithm, RateLimitLayer, RequestContext, Rule};
use tower_http::cors::{Any, CorsLayer};

use crate::support::client::{self, Answer, Ask, ask};
use crate::support::limiter;

fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET])
        .allow_headers([HeaderName::from_static("x-user-id")])
        .expose_headers([
            header::RETRY_AFTER,
            HeaderName::from_static("ratelimit"),
            HeaderName::from_static("ratelimit-policy"),
        ])
}

fn two_a_minute() -> RateLimitLayer {
    let window = Duration::from_mins(1);
    let rule = Rule::new("cors", Algorithm::FixedWindow { limit: 2, window });
    RateLimitLayer::new().limiter(limiter()).limit(rule, RequestContext::ip_key)
}

fn page() -> MethodRouter {
    get(async || "page")
}

fn serve(router: Router) -> SocketAddr {
    crate::support::site::serve_router(router)
}

fn preflight() -> Ask {
    ask("OPTIONS", "/")
        .header("origin", "https://shop.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "x-user-id")
}

fn request() -> Ask {
    client::get("/").header("origin", "https://shop.example")
}

#[track_caller]
fn is_readable(answer: &Answer) {
    assert_eq!(answer.header("access-control-allow-origin"), "*", "{answer:?}");
    let exposed = answer.header("access-control-expose-headers");
    for field in answer.fields() {
        assert!(exposed.split(',').any(|name| name.trim() == field), "{field} in {exposed}");
    }
}

#[test]
fn cors_outside_is_the_right_order() {
    // Of axum's layers, the last is the outermost.
    let address = serve(Router::new().route("/", page()).layer(two_a_minute()).layer(cors()));
    for _ in 0..10 {
        let answer = preflight().to(address);
        assert_eq!((answer.status, answer.fields()), (200, Vec::new()), "{answer:?}");
    }
    for status in [200, 200, 429] {
        let answer = request().to(address);
        assert_eq!(answer.status, status);
        assert!(answer.fields().len() >= 2, "{answer:?}");
        is_readable(&answer);
    }
    assert_eq!(preflight().to(address).status, 200, "also after a refusal");
}

#[test]
fn the_other_order_counts_preflights() {
    let address = serve(Router::new().route("/", page()).layer(cors()).layer(two_a_minute()));
    assert_eq!(preflight().times(3, address), [200, 200, 429]);
    let refused = request().to(address);
    assert!(!refused.headers.contains_key("access-control-allow-origin"), "nobody can read it");
}

/// Of a `ServiceBuilder`, the first is the outermost.
#[tokio::test]
async fn the_same_with_a_service_builder() {
    use tower::{ServiceBuilder, ServiceExt, service_fn};

    let service = ServiceBuilder::new()
        .layer(cors())
        .layer(two_a_minute().peer(|_| "192.0.2.1".parse().ok()));
    let service = service.service(service_fn(async |_: Request<()>| {
        Ok::<_, Infallible>(Response::new(String::new()))
    }));
    let ask = async |method: Method| {
        let request = Request::builder()
            .method(method)
            .header("origin", "https://shop.example")
            .header("access-control-request-method", "GET");
        service.clone().oneshot(request.body(()).unwrap()).await.unwrap().status().as_u16()
    };
    for _ in 0..5 {
        assert_eq!(ask(Method::OPTIONS).await, 200);
    }
    assert_eq!(
        [ask(Method::GET).await, ask(Method::GET).await, ask(Method::GET).await],
        [200, 200, 429]
    );
}
