//! The site without a framework: a tower service on hyper.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use ratelimit_kit::{Limiter, RateLimitError};
use tower::util::BoxCloneService;
use tower::{Layer, ServiceExt, service_fn};

use super::Site;
use super::handlers::{self, Use};

type Answer = Response<Full<Bytes>>;
type Service = BoxCloneService<Request<Incoming>, Answer, Infallible>;

/// Its thread ends with the process.
pub(super) fn serve(site: Site) -> SocketAddr {
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(site.on).await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let service = service(&site);
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                let service = service.clone();
                let knows_peer = site.knows_peer;
                // Where nobody else says who the peer is, the service's author does.
                let service = service_fn(move |mut request: Request<Incoming>| {
                    if knows_peer {
                        request.extensions_mut().insert(peer);
                    }
                    service.clone().oneshot(request)
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
                tokio::spawn(connection);
            }
        })
    });
    address.recv().unwrap()
}

fn service(site: &Site) -> Service {
    let limiter = site.limiter.clone();
    let inner = site.inner.layer(service_fn(move |_| {
        let l = Use(limiter.clone());
        async move { Ok(answer(handlers::user(l).await)) }
    }));
    let limiter = site.limiter.clone();
    let all = service_fn(move |request: Request<Incoming>| {
        let (inner, limiter) = (inner.clone(), limiter.clone());
        async move {
            match request.uri().path() {
                "/inner" => inner.oneshot(request).await,
                path => Ok(route(path, limiter).await),
            }
        }
    });
    match &site.layer {
        Some(layer) => layer.layer(all).boxed_clone(),
        None => all.boxed_clone(),
    }
}

async fn route(path: &str, limiter: Limiter) -> Answer {
    let l = Use(limiter);
    answer(match path {
        "/free" | "/health" | "/" => Ok(handlers::free().await.to_owned()),
        "/ip" => handlers::ip(l).await,
        "/user" => handlers::user(l).await,
        "/tenant" => handlers::tenant(l).await,
        "/device" => handlers::device(l).await,
        "/method" => handlers::method(l).await,
        "/header" => handlers::header(l).await,
        "/year" => handlers::minute_and_year(l).await,
        "/hour" => handlers::minute_and_hour(l).await,
        "/spawned" => handlers::spawned(l).await,
        "/lost" => handlers::lost(l).await,
        "/costly" => handlers::costly(l).await,
        "/ten" => handlers::ten_seconds(l).await,
        "/zero" => handlers::zero(l).await,
        path if path.starts_with("/path/") => handlers::by_path(l).await,
        _ => {
            let mut answer = Answer::default();
            *answer.status_mut() = StatusCode::NOT_FOUND;
            return answer;
        }
    })
}

fn answer(result: Result<String, RateLimitError>) -> Answer {
    match result {
        Ok(text) => Response::new(Full::from(text)),
        Err(error) => error.http_response().map(Full::from),
    }
}
