//! The site on axum.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::routing::{any, get};
use ratelimit_kit::Limiter;

use super::Site;
use super::handlers::{self, Use};

impl FromRequestParts<Limiter> for Use {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, limiter: &Limiter) -> Result<Self, Infallible> {
        Ok(Self(limiter.clone()))
    }
}

pub(super) fn serve(site: Site) -> SocketAddr {
    let (knows_peer, on) = (site.knows_peer, site.on);
    serve_router(router(site), knows_peer, on)
}

/// Its thread ends with the process.
pub(super) fn serve_router(router: Router, knows_peer: bool, on: &'static str) -> SocketAddr {
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(on).await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            if knows_peer {
                let service = router.into_make_service_with_connect_info::<SocketAddr>();
                axum::serve(listener, service).await
            } else {
                axum::serve(listener, router).await
            }
        })
    });
    address.recv().unwrap()
}

fn router(site: Site) -> Router {
    let router = Router::new()
        .route("/free", get(handlers::free))
        .route("/health", get(handlers::free))
        .route("/", get(handlers::free))
        .route("/inner", get(handlers::user).layer(site.inner))
        .route("/ip", get(handlers::ip))
        .route("/user", get(handlers::user))
        .route("/tenant", get(handlers::tenant))
        .route("/device", get(handlers::device))
        .nest("/path", Router::new().route("/{x}", get(handlers::by_path)))
        .route("/method", any(handlers::method))
        .route("/header", get(handlers::header))
        .route("/year", get(handlers::minute_and_year))
        .route("/hour", get(handlers::minute_and_hour))
        .route("/spawned", get(handlers::spawned))
        .route("/lost", get(handlers::lost))
        .route("/costly", get(handlers::costly))
        .route("/ten", get(handlers::ten_seconds))
        .route("/zero", get(handlers::zero))
        .with_state(site.limiter);
    match site.layer {
        Some(layer) => router.layer(layer),
        None => router,
    }
}
