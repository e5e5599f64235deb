//! Services behind a Unix socket, whose peers have no address.

use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use actix_web::{App, HttpServer, web};
use axum::Router;
use axum::routing::get as route;
use ratelimit_kit::{Algorithm, ClientIp, RateLimitLayer, RequestContext, Rule};
use test_support::Log;
use tokio::net::UnixListener;
use tonic::transport::{Endpoint, Server};
use tonic::{Code, Request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::support::client::{Answer, get};
use crate::support::limiter;

/// Two requests for an address.
fn layer() -> RateLimitLayer {
    let window = std::time::Duration::from_hours(1);
    let rule = Rule::named("sockets", Algorithm::FixedWindow { limit: 2, window });
    RateLimitLayer::new().limiter(limiter()).limit(rule, RequestContext::ip_key)
}

/// A path for a socket, in a folder that goes with it.
struct Socket(PathBuf);

impl Socket {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ratelimit-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join("socket"))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.0.parent().map(std::fs::remove_dir_all);
    }
}

fn router(layer: RateLimitLayer) -> Router {
    Router::new().route("/", route(async || "axum")).layer(layer)
}

/// Its thread ends with the process.
fn on_axum(layer: RateLimitLayer, at: &Path) {
    let router = router(layer);
    let (at, (tell, ready)) = (at.to_owned(), mpsc::channel());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = UnixListener::bind(at).unwrap();
            tell.send(()).unwrap();
            axum::serve(listener, router).await
        })
    });
    ready.recv().unwrap();
}

/// Its thread ends with the process.
fn on_actix(layer: RateLimitLayer, at: &Path) {
    let (at, (tell, ready)) = (at.to_owned(), mpsc::channel());
    thread::spawn(move || {
        let app =
            move || App::new().wrap(layer.clone()).route("/", web::get().to(async || "actix"));
        let server = HttpServer::new(app).workers(1).disable_signals().bind_uds(at).unwrap();
        tell.send(()).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    ready.recv().unwrap();
}

fn everywhere(name: &str, layer: impl Fn() -> RateLimitLayer, test: impl Fn(&str, &Path)) {
    type Serve = fn(RateLimitLayer, &Path);
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let socket = Socket::new(&format!("{name}-{framework}"));
        serve(layer(), &socket.0);
        test(framework, &socket.0);
    }
}

fn from(client: &str, at: &Path) -> Answer {
    get("/").header("x-forwarded-for", client).to_socket(at)
}

fn four(at: &Path) -> [u16; 4] {
    let [a, b] = ["203.0.113.1", "203.0.113.2"];
    [a, a, a, b].map(|client| from(client, at).status)
}

#[test]
fn b136_behind_a_unix_socket() {
    let counted = || layer().client_ip(ClientIp::behind_hops(1));
    let said = || {
        let trusted = ClientIp::behind(["127.0.0.1"]).unwrap();
        layer().client_ip(trusted).peer(|_| Some([127, 0, 0, 1].into()))
    };
    everywhere("counted", counted, |framework, at| {
        assert_eq!(four(at), [200, 200, 429, 200], "{framework}");
        // What a client writes itself stands left of what the proxy does.
        assert_eq!(from("198.51.100.1, 203.0.113.1", at).status, 429, "{framework}");
        // Whom the proxy says nothing of has no budget, and shares none.
        get("/").to_socket(at).is_our_mistake();
    });
    everywhere("said", said, |framework, at| {
        assert_eq!(four(at), [200, 200, 429, 200], "{framework}");
    });
}

#[test]
fn b136_where_nothing_is_set_a_line_says_what_to_set() {
    everywhere("unset", layer, |framework, at| {
        assert_eq!(four(at), [500; 4], "{framework}");
    });
    let (log, socket) = (Log::default(), Socket::new("logged"));
    let answers = log.during(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = UnixListener::bind(&socket.0).unwrap();
            tokio::spawn(axum::serve(listener, router(layer())).into_future());
            let at = socket.0.clone();
            tokio::task::spawn_blocking(move || four(&at)).await.unwrap()
        })
    });
    assert_eq!(answers, [500; 4]);
    let lines = log.lines("`sockets`");
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in ["ERROR", "Unix socket", "ClientIp::behind_hops", "RateLimitLayer::peer"] {
        assert!(lines.iter().all(|line| line.contains(part)), "{part}: {lines:?}");
    }
    assert!(lines.iter().all(|line| !line.contains("203.0.113")), "{lines:?}");
}

#[tokio::test]
async fn b136_tonic_behind_a_unix_socket() {
    let socket = Socket::new("tonic");
    let listener = UnixListener::bind(&socket.0).unwrap();
    let incoming = futures_util::stream::unfold(listener, async |listener| {
        Some((listener.accept().await.map(|(stream, _)| stream), listener))
    });
    let server = Server::builder()
        .layer(layer().client_ip(ClientIp::behind_hops(1)))
        .add_service(tonic_health::server::health_reporter().1);
    tokio::spawn(server.serve_with_incoming(Box::pin(incoming)));
    let endpoint = Endpoint::from_shared(format!("unix://{}", socket.0.display())).unwrap();
    let mut client = HealthClient::new(endpoint.connect().await.unwrap());
    let mut codes = Vec::new();
    for from in ["203.0.113.1", "203.0.113.1", "203.0.113.1", "203.0.113.2", ""] {
        let mut request = Request::new(HealthCheckRequest::default());
        request.metadata_mut().insert("x-forwarded-for", from.parse().unwrap());
        codes.push(client.check(request).await.map_or_else(|status| status.code(), |_| Code::Ok));
    }
    let refused = Code::ResourceExhausted;
    assert_eq!(codes, [Code::Ok, Code::Ok, refused, Code::Ok, Code::Internal]);
}
