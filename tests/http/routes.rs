//! `@route`: the template that a framework has matched, and not the path that a client has chosen.

use std::sync::mpsc;
use std::thread;

use actix_web::{App, HttpServer, web};
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use ratelimit_kit::{
    Algorithm, Limiter, RateLimitError, RateLimitLayer, RequestContext, Rule, rate_limit,
};

use crate::support::client;
use crate::support::limiter;
use crate::support::site::{Site, serve_router};

/// What a layer's rule has for `@route`, told by the answer to a handler.
async fn seen() -> String {
    let context = RequestContext::current();
    context.as_ref().and_then(RequestContext::route).unwrap_or("nothing").to_owned()
}

#[rate_limit(
    name = "by route",
    key = "@route",
    algo = fixed_window,
    limit = 3,
    window = 60,
    limiter = l,
)]
async fn by_route(State(l): State<Limiter>) -> Result<&'static str, RateLimitError> {
    Ok("a user")
}

/// A layer that limits each route, whatever the path is.
fn by_template(limit: u64) -> RateLimitLayer {
    let window = std::time::Duration::from_mins(1);
    let rule = Rule::named(format!("templates {limit}"), Algorithm::FixedWindow { limit, window });
    RateLimitLayer::new().limiter(limiter()).limit(rule, RequestContext::route_key)
}

fn router() -> Router {
    let items = Router::new().route("/{item}", get(seen)).route("/", get(seen));
    let apart = Router::new().route("/deep/{x}", get(seen)).layer(RateLimitLayer::new());
    Router::new()
        .route("/users/{id}", get(seen))
        .nest("/items/{shop}", items)
        .nest_service("/apart", apart)
        .route("/files/{*rest}", get(seen))
        .fallback(seen)
}

fn on_actix(layer: RateLimitLayer) -> std::net::SocketAddr {
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let app = move || {
            let items = web::scope("/items/{shop}")
                .route("/{item}", web::get().to(seen))
                .route("/", web::get().to(seen));
            App::new()
                .wrap(layer.clone())
                .route("/users/{id}", web::get().to(seen))
                .service(items)
                .route("/files/{rest:.*}", web::get().to(seen))
                .default_service(web::to(seen))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
        tell.send(server.addrs()[0]).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    address.recv().unwrap()
}

#[test]
fn f37_the_template_and_not_the_path() {
    let axum = serve_router(router().layer(RateLimitLayer::new()));
    let actix = on_actix(RateLimitLayer::new());
    for (framework, address) in [("axum", axum), ("actix", actix)] {
        let route = |path: &str| client::get(path).to(address).body;
        for (path, template) in [
            ("/users/1", "/users/{id}"),
            ("/users/%32?x=1", "/users/{id}"),
            ("/items/acme/7", "/items/{shop}/{item}"),
            ("/nothing", RequestContext::UNMATCHED),
            ("/users/1/2", RequestContext::UNMATCHED),
            ("/items/a/b/c", RequestContext::UNMATCHED),
            ("/unmatched", RequestContext::UNMATCHED),
        ] {
            assert_eq!(route(path), template, "{framework} {path}");
        }
    }
    let route = |path: &str| client::get(path).to(axum).body;
    // A service of its own, with a layer of its own.
    assert_eq!(route("/apart/deep/1"), "/apart/deep/{x}");
    assert_eq!(route("/files/a/b"), "/files/{*rest}");
}

#[test]
fn f37_a_rule_of_a_layer_by_route() {
    for (framework, address) in [
        ("axum", serve_router(router().layer(by_template(3)))),
        ("actix", on_actix(by_template(3))),
    ] {
        let status = |path: &str| client::get(path).to(address).status;
        let users = ["/users/1", "/users/2", "/users/3", "/users/4"].map(status);
        assert_eq!(users, [200, 200, 200, 429], "{framework}");
        // Paths that there are not are one budget, however many are invented.
        let unknown = ["/a", "/b", "/c", "/d"].map(status);
        assert_eq!(unknown, [200, 200, 200, 429], "{framework}");
        assert_eq!(status("/items/a/b"), 200, "{framework}");
    }
}

#[test]
fn f37_in_the_key_of_a_handler() {
    let router = Router::new().route("/users/{id}", get(by_route));
    let address = serve_router(router.layer(RateLimitLayer::new()).with_state(limiter()));
    let status = |path: &str| client::get(path).to(address).status;
    let users = ["/users/1", "/users/01", "/users/+1", "/users/4"].map(status);
    assert_eq!(users, [200, 200, 200, 429]);
}

/// Where nobody knows the routes, there is no budget for all of them.
#[test]
fn f37_without_a_router_it_is_a_mistake_of_ours() {
    Site::everywhere(
        || Site::new(limiter(), by_template(2)),
        |framework, address| {
            let answer = client::get("/free").to(address);
            if framework == "tower" {
                answer.is_our_mistake();
            } else {
                assert_eq!(answer.status, 200, "{framework} {answer:?}");
            }
        },
    );
    // Unless the service says it itself.
    Site::everywhere(
        || {
            let known = |path: &str| (path == "/free").then(|| "free".to_owned());
            Site::new(limiter(), by_template(2).route(move |request| known(request.path())))
        },
        |framework, address| {
            let status = |path: &str| client::get(path).to(address).status;
            assert_eq!(["/free", "/free", "/free"].map(status), [200, 200, 429], "{framework}");
            assert_eq!(["/x", "/y", "/z"].map(status), [404, 404, 429], "{framework}");
        },
    );
}
