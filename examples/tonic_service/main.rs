//! A gRPC service with a limited method, as in the guide `docs/http.md`, and a client that is refused.
//!
//! ```text
//! cargo run --example tonic_service --features tonic              # the server and six calls
//! cargo run --example tonic_service --features tonic -- --serve   # the server alone
//! ```

#![allow(clippy::print_stdout, reason = "a program talks to its user")]

pub(crate) mod sms;

use std::error::Error;

use ratelimit_kit::{RateLimitLayer, rate_limit};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{self, Channel, Server};
use tonic::{Request, Response, Status, async_trait};
use tonic_types::StatusExt;

use self::sms::{Message, Receipt, Sms, SmsClient, SmsServer};

struct Gateway;

#[async_trait]
impl Sms for Gateway {
    /// Five messages a minute for an address.
    #[rate_limit(name = "sms-grpc", key = "@ip", algo = sliding_log, limit = 5, window = "60s")]
    async fn send(&self, request: Request<Message>) -> Result<Response<Receipt>, Status> {
        let Message { phone, text } = request.into_inner();
        Ok(Response::new(Receipt {
            done: format!("{} characters to {phone}", text.chars().count()),
        }))
    }
}

pub(crate) async fn serve(incoming: TcpIncoming) -> Result<(), transport::Error> {
    Server::builder()
        .layer(RateLimitLayer::new())
        .add_service(SmsServer::new(Gateway))
        .serve_with_incoming(incoming)
        .await
}

/// One call, and in words what became of it.
pub(crate) async fn call(client: &mut SmsClient) -> Result<String, Status> {
    let message = Message { phone: "13800000000".to_owned(), text: "Hello!".to_owned() };
    match client.send(Request::new(message)).await {
        Ok(response) => {
            let left = response.metadata().get("ratelimit").and_then(|left| left.to_str().ok());
            let left = left.unwrap_or_default().to_owned();
            Ok(format!("sent {}; ratelimit: {left}", response.into_inner().done))
        }
        // What a client does that is told to wait.
        Err(status) => match status.get_details_retry_info().and_then(|info| info.retry_delay) {
            Some(wait) => Ok(format!(
                "refused with code {} ({:?}); RetryInfo: in {wait:?}",
                i32::from(status.code()),
                status.code()
            )),
            None => Err(status),
        },
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 50051).into())?;
    if std::env::args().any(|argument| argument == "--serve") {
        return Ok(serve(incoming).await?);
    }
    tokio::spawn(serve(incoming));
    let channel = Channel::from_static("http://127.0.0.1:50051").connect().await?;
    let mut client = SmsClient::new(channel);
    for n in 1..=6 {
        println!("{n}: {}", call(&mut client).await?);
    }
    Ok(())
}
