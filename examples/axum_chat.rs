//! Messages of a WebSocket on axum, as in "Messages of a connection" of the guide `docs/http.md`.
//!
//! ```text
//! cargo run --example axum_chat --features axum
//! ```

use std::net::SocketAddr;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use ratelimit_kit::{RateLimitError, RateLimitLayer, RequestContext, rate_limit};

/// Five messages at once and one a second for an address, over however many connections they come.
#[rate_limit(name = "chat", key = "@ip", capacity = 5, refill = 1)]
async fn say(text: &str) -> Result<String, RateLimitError> {
    Ok(format!("you said {text}"))
}

async fn chat(upgrade: WebSocketUpgrade) -> Response {
    // The request ends with the upgrade, and its context too: what it knows is taken along.
    let context = RequestContext::current();
    upgrade.on_upgrade(async move |socket| match context {
        Some(context) => context.scope(talk(socket)).await,
        None => talk(socket).await,
    })
}

async fn talk(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(text) = message else { continue };
        let answer = match say(&text).await {
            Ok(answer) => answer,
            Err(error) => format!("slower, please: {}", error.http_status()),
        };
        if socket.send(answer.into()).await.is_err() {
            break;
        }
    }
}

pub(crate) fn app() -> Router {
    Router::new().route("/chat", get(chat)).layer(RateLimitLayer::new())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let app = app().into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app).await
}
