//! Rules of layers and of functions that have one name: on purpose, or by mistake.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get as route;
use ratelimit_kit::{
    Algorithm, Limiter, Mode, RateLimitError, RateLimitLayer, RequestContext, Rule, rate_limit,
};
use test_support::Log;
use tower::{Layer, ServiceExt, service_fn};

use crate::support::client::get;
use crate::support::limiter;
use crate::support::site::{Site, serve_router};

fn of(limit: u64) -> Algorithm {
    Algorithm::FixedWindow { limit, window: Duration::from_mins(1) }
}

fn layer(limiter: &Limiter, rule: Rule) -> RateLimitLayer {
    RateLimitLayer::new().limiter(limiter.clone()).limit(rule, RequestContext::ip_key)
}

fn serve(
    limiter: Limiter,
    layer: RateLimitLayer,
    handler: axum::routing::MethodRouter<Limiter>,
) -> std::net::SocketAddr {
    let free = route(async || "free");
    let router = Router::new().route("/", handler).route("/free", free);
    serve_router(router.with_state(limiter).layer(layer))
}

#[test]
fn same_numbers_share_a_budget_on_purpose() {
    #[rate_limit(
        name = "names-shared",
        key = "@ip",
        algo = fixed_window,
        limit = 5,
        window = 60,
        limiter = limiter,
    )]
    async fn handler(State(limiter): State<Limiter>) -> Result<&'static str, RateLimitError> {
        Ok("limited")
    }
    let limiter = limiter();
    let layer = layer(&limiter, Rule::new("names-shared", of(5)));
    let address = serve(limiter, layer, route(handler));
    // The layer takes one, and the handler another.
    assert_eq!(get("/").times(2, address), [200, 200]);
    assert_eq!(get("/free").times(2, address), [200, 429]);
}

#[test]
fn other_numbers_in_a_layer_are_our_mistake() {
    #[rate_limit(name = "names-function", algo = fixed_window, limit = 5, window = 60, limiter = limiter)]
    fn first(limiter: &Limiter) -> Result<(), RateLimitError> {
        Ok(())
    }
    first(&limiter()).unwrap();
    let site = || {
        let limiter = limiter();
        Site::new(limiter.clone(), layer(&limiter, Rule::new("names-function", of(6))))
    };
    Site::everywhere(site, |framework, address| {
        // Said every time, not only the first.
        for _ in 0..2 {
            let answer = get("/free").to(address);
            answer.is_our_mistake();
            // The places are nobody's business outside.
            let told = format!("{answer:?}");
            assert!(!told.contains(".rs") && !told.contains("names-"), "{framework}: {told}");
        }
    });
    // What only watches, or is off, keeps nobody from anything.
    for mode in [Mode::Shadow, Mode::Off] {
        let site = || {
            let limiter = limiter();
            let rule = Rule::new("names-function", of(7)).with_mode(mode);
            Site::new(limiter.clone(), layer(&limiter, rule))
        };
        Site::everywhere(site, |framework, address| {
            assert_eq!(get("/free").to(address).status, 200, "{framework}");
        });
    }
}

#[test]
fn the_first_that_is_called_counts() {
    #[rate_limit(
        name = "names-layer",
        key = "@ip",
        algo = fixed_window,
        limit = 5,
        window = 60,
        limiter = limiter,
    )]
    async fn handler(State(limiter): State<Limiter>) -> Result<&'static str, RateLimitError> {
        Ok("limited")
    }
    let limiter = limiter();
    let layer = layer(&limiter, Rule::new("names-layer", of(6)));
    let address = serve(limiter, layer, route(handler));
    let answer = get("/").to(address);
    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(get("/free").to(address).status, 200);
}

#[test]
fn one_place_can_be_configured_anew() {
    // A configuration is read again, and the layer is made of it again.
    let of_configuration = |limit| Rule::named("names-configured", of(limit));
    let limiter = limiter();
    for limit in [1, 2] {
        let layer = layer(&limiter, of_configuration(limit));
        let address = serve(limiter.clone(), layer, route(async || "free"));
        // What is used stays used.
        assert_eq!(get("/").times(2, address), [200, 429], "{limit}");
    }
}

#[test]
fn the_log_names_both_places_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let status = |rule| {
        let layer = RateLimitLayer::new().limiter(limiter()).limit(rule, |_| "k".into());
        let service = service_fn(async |_: hyper::Request<()>| {
            Ok::<_, Infallible>(hyper::Response::new(String::new()))
        });
        let service = layer.layer(service);
        let ask = async || service.clone().oneshot(hyper::Request::default()).await.unwrap();
        runtime.block_on(async { [ask().await.status(), ask().await.status()] })
    };
    let log = Log::default();
    let (one, other) = log.during(|| {
        let one = line!() + 1;
        assert_eq!(status(Rule::new("names-log", of(5))), [200, 200]);
        let other = line!() + 1;
        assert_eq!(status(Rule::new("names-log", of(6))), [500, 500]);
        (one, other)
    });
    let told = log.lines("one name");
    let [told] = &told[..] else { panic!("{told:?}") };
    for line in [one, other] {
        assert!(told.contains(&format!("tests/http/names.rs:{line}:")), "{told}");
    }
}
