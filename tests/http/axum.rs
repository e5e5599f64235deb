//! Handlers of axum stay handlers, with `#[debug_handler]` above, below, or not at all, and their
//! refusals are responses.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Json, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, debug_handler};
use ratelimit_kit::{Limiter, RateLimitError, rate_limit};
use serde::{Deserialize, Serialize};

use crate::support::client::{Answer, send};
use crate::support::{limiter, without_a_store};

/// An error type as people write them.
enum Error {
    Limited(RateLimitError),
}

impl From<RateLimitError> for Error {
    fn from(error: RateLimitError) -> Self {
        Self::Limited(error)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let Self::Limited(error) = self;
        error.into_response()
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
    ConnectInfo(_): ConnectInfo<SocketAddr>,
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

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
async fn hidden(State(s): State<App>, Path(id): Path<u64>) -> impl IntoResponse {
    if id == 0 {
        return (StatusCode::NOT_FOUND, "none");
    }
    (StatusCode::OK, "some")
}

#[rate_limit(
    key = "id",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = s.limiter,
    on_limited = |error| (StatusCode::TOO_MANY_REQUESTS, format!("come back in {:?}", error.retry_after())),
)]
async fn answered(State(s): State<App>, Path(id): Path<u64>) -> impl IntoResponse {
    Json(Out { length: id.to_string().len() })
}

#[rate_limit(
    key = "id",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = s.limiter,
    on_unavailable = (StatusCode::OK, "later"),
)]
async fn unavailable(State(s): State<App>, Path(id): Path<u64>) -> impl IntoResponse {
    Json(Out { length: id.to_string().len() })
}

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
async fn response(State(s): State<App>, Path(id): Path<u64>) -> Response {
    id.to_string().into_response()
}

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = s.limiter)]
async fn own_error(State(s): State<App>, Path(id): Path<String>) -> Result<String, RateLimitError> {
    Ok(id)
}

/// A service with all handlers of this file.
async fn serve(limiter: Limiter) -> SocketAddr {
    let app = Router::new()
        .route("/plain/{id}", post(plain))
        .route("/above/{id}", post(above))
        .route("/below/{id}", post(below))
        .route("/sixteen/{id}", post(sixteen))
        .route("/hidden/{id}", get(hidden))
        .route("/answered/{id}", get(answered))
        .route("/unavailable/{id}", get(unavailable))
        .route("/response/{id}", get(response))
        .route("/own_error/{id}", get(own_error))
        .with_state(App { limiter })
        .into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn ask(address: SocketAddr, path: &'static str, json: Option<&'static str>) -> Answer {
    tokio::task::spawn_blocking(move || send(address, path, json)).await.unwrap()
}

#[tokio::test]
async fn b010_handlers_are_limited() {
    let address = serve(limiter()).await;
    for path in ["/plain/7", "/above/7", "/below/7", "/sixteen/7"] {
        for _ in 0..2 {
            assert_eq!(ask(address, path, Some(r#"{"user":"ann"}"#)).await.status, 200, "{path}");
        }
        let third = ask(address, path, Some(r#"{"user":"ann"}"#)).await;
        // Of the last one the attribute says what to answer.
        if path == "/sixteen/7" {
            assert_eq!(third.status, 429);
        } else {
            third.is_refusal();
        }
    }
}

#[tokio::test]
async fn every_kind_of_return_can_refuse() {
    let address = serve(limiter()).await;
    for path in ["/hidden/7", "/hidden/0", "/unavailable/7", "/response/7", "/own_error/7"] {
        let status = if path == "/hidden/0" { 404 } else { 200 };
        for _ in 0..2 {
            assert_eq!(ask(address, path, None).await.status, status, "{path}");
        }
        ask(address, path, None).await.is_refusal();
    }
    for _ in 0..2 {
        assert_eq!(ask(address, "/answered/7", None).await.body, r#"{"length":1}"#);
    }
    let answered = ask(address, "/answered/7", None).await;
    assert_eq!((answered.status, &*answered.body), (429, "come back in Some(60s)"));
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_not_a_refusal() {
    let address = serve(without_a_store()).await;
    for path in ["/hidden/7", "/response/7", "/own_error/7"] {
        ask(address, path, None).await.is_unavailable();
    }
    let handled = ask(address, "/unavailable/7", None).await;
    assert_eq!((handled.status, &*handled.body), (200, "later"));
}

#[tokio::test]
async fn an_empty_key_is_the_callers_mistake() {
    let address = serve(limiter()).await;
    let answer = ask(address, "/own_error/%20", None).await;
    assert_eq!(answer.status, 200, "a blank is not empty");
    #[rate_limit(key = "id", capacity = 1, refill = 1)]
    fn empty(id: &str) -> Response {
        id.to_owned().into_response()
    }
    assert_eq!(empty("").status(), StatusCode::BAD_REQUEST);
}
