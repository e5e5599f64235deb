//! One site on every framework: the same annotated handlers behind a layer.

mod actix;
mod axum;
mod handlers;
mod tower;

use std::net::SocketAddr;

use ratelimit_kit::{Limiter, RateLimitLayer};

pub(crate) use self::handlers::{Use, by_path, ip};

/// What is to be served.
#[derive(Clone)]
pub(crate) struct Site {
    /// What the handlers' rules are decided on.
    pub(crate) limiter: Limiter,
    /// Around all of it.
    pub(crate) layer: Option<RateLimitLayer>,
    /// Around `/inner` alone.
    pub(crate) inner: RateLimitLayer,
    /// Whether the framework knows the peer's address, where one can choose.
    pub(crate) knows_peer: bool,
    /// Where it listens.
    pub(crate) on: &'static str,
}

impl Site {
    pub(crate) fn new(limiter: Limiter, layer: RateLimitLayer) -> Self {
        Self { layer: Some(layer), ..Self::without_layer(limiter) }
    }

    pub(crate) fn without_layer(limiter: Limiter) -> Self {
        let on = "127.0.0.1:0";
        Self { limiter, layer: None, inner: RateLimitLayer::new(), knows_peer: true, on }
    }

    /// Serves it with each framework in turn; nothing is shared but the limiter, if the closure
    /// gives one that is.
    #[track_caller]
    pub(crate) fn everywhere(make: impl Fn() -> Self, test: impl Fn(&str, SocketAddr)) {
        test("axum", axum::serve(make()));
        test("actix", actix::serve(make()));
        test("tower", tower::serve(make()));
    }

    pub(crate) fn on_axum(self) -> SocketAddr {
        axum::serve(self)
    }
}

/// Serves any router of axum.
pub(crate) fn serve_router(router: ::axum::Router) -> SocketAddr {
    axum::serve_router(router, true, "127.0.0.1:0")
}
