//! Handlers of axum stay handlers, with `#[debug_handler]` above, below, or not at all.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use axum::extract::{Json, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, debug_handler};
use ratelimit_kit::{Limiter, rate_limit};
use serde::{Deserialize, Serialize};

use crate::support::{Error, limiter};

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = if self.is_refusal() {
            StatusCode::TOO_MANY_REQUESTS
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        };
        status.into_response()
    }
}

#[derive(Clone)]
struct App {
    limiter: Limiter,
}

#[derive(Deserialize)]
struct Body {
    user: String,
}

#[derive(Serialize)]
struct Out {
    length: usize,
}

#[rate_limit(key = "id + b.user", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
async fn plain(
    State(s): State<App>,
    Path(id): Path<u64>,
    Json(b): Json<Body>,
) -> Result<Json<Out>, Error> {
    assert_eq!(id, 7);
    Ok(Json(Out { length: b.user.len() }))
}

#[debug_handler]
#[rate_limit(key = "id + b.user", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
async fn above(
    State(s): State<App>,
    Path(id): Path<u64>,
    Json(b): Json<Body>,
) -> Result<Json<Out>, Error> {
    assert_eq!(id, 7);
    Ok(Json(Out { length: b.user.len() }))
}

#[rate_limit(key = "id + b.user", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
#[debug_handler]
async fn below(
    State(s): State<App>,
    Path(id): Path<u64>,
    Json(b): Json<Body>,
) -> Result<Json<Out>, Error> {
    assert_eq!(id, 7);
    Ok(Json(Out { length: b.user.len() }))
}

#[rate_limit(
    key = "id",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = s.limiter,
    on_limited = StatusCode::TOO_MANY_REQUESTS.into_response(),
)]
#[expect(clippy::too_many_arguments, reason = "as many as a handler can have")]
async fn sixteen(
    State(s): State<App>,
    Path(id): Path<u64>,
    _: Method,
    _: Uri,
    _: HeaderMap,
    _: Method,
    _: Uri,
    _: HeaderMap,
    _: Method,
    _: Uri,
    _: HeaderMap,
    _: Method,
    _: Uri,
    _: HeaderMap,
    _: Method,
    Json(b): Json<Body>,
) -> impl IntoResponse {
    Json(Out { length: b.user.len() }).into_response()
}

#[tokio::test]
async fn handlers_are_limited() {
    let app = Router::new()
        .route("/plain/{id}", post(plain))
        .route("/above/{id}", post(above))
        .route("/below/{id}", post(below))
        .route("/sixteen/{id}", post(sixteen))
        .with_state(App { limiter: limiter() });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, app).await });
    for path in ["plain", "above", "below", "sixteen"] {
        let three = move || [(); 3].map(|()| status_of(address, &format!("/{path}/7")));
        let statuses = tokio::task::spawn_blocking(three).await.unwrap();
        assert_eq!(statuses, ["200", "200", "429"], "{path}");
    }
    server.abort();
}

/// The status of one POST.
fn status_of(address: SocketAddr, path: &str) -> String {
    let body = r#"{"user":"ann"}"#;
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}
