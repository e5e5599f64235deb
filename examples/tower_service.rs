//! A service without a framework, hyper and tower alone, as in the guide `docs/http.md`.
//!
//! ```text
//! cargo run --example tower_service --features tower
//! ```

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use ratelimit_kit::{Algorithm, RateLimitError, RateLimitLayer, RequestContext, Rule, rate_limit};
use tokio::net::TcpListener;
use tower::{Layer, ServiceExt, service_fn};

/// Three quotes a minute for a user, or for an address of which nobody says who it is.
#[rate_limit(
    name = "quote",
    key = "@user ?: @ip",
    algo = fixed_window,
    limit = 3,
    window = "60s"
)]
async fn quote() -> Result<&'static str, RateLimitError> {
    Ok("less is more\n")
}

async fn route(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != "/quote" {
        let mut response = Response::new(Full::from("nothing here\n"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    }
    Ok(match quote().await {
        Ok(text) => Response::new(Full::from(text)),
        // The frameworks do this by themselves.
        Err(error) => error.http_response().map(Full::from),
    })
}

pub(crate) async fn serve(listener: TcpListener) -> io::Result<()> {
    // For all paths together: ten requests a minute for an address.
    let window = Duration::from_mins(1);
    let rule = Rule::new("address", Algorithm::SlidingLog { limit: 10, window });
    let layer = RateLimitLayer::new()
        // For a demonstration: here everybody can be anybody. A service asks whoever has checked a token.
        .user(|request| request.header("x-user-id").map(str::to_owned))
        .limit(rule, RequestContext::ip_key);
    let service = layer.layer(service_fn(route));
    loop {
        let (stream, peer) = listener.accept().await?;
        let service = service.clone();
        // Where no framework says who the peer is, the service does: without it there is no `@ip`.
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.clone().oneshot(request)
        });
        let service = TowerToHyperService::new(service);
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    serve(TcpListener::bind("127.0.0.1:3000").await?).await
}
