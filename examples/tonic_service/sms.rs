//! What `tonic-prost-build` makes of this in a build script, in short, so that the example needs none
//! and no `protoc`:
//!
//! ```proto
//! package demo;
//! message Message { string phone = 1; string text = 2; }
//! message Receipt { string done = 1; }
//! service Sms { rpc Send(Message) returns (Receipt); }
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, async_trait, client, server};
use tonic_prost::ProstCodec;
use tower::service_fn;

const SEND: &str = "/demo.Sms/Send";

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Message {
    #[prost(string, tag = "1")]
    pub(crate) phone: String,
    #[prost(string, tag = "2")]
    pub(crate) text: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Receipt {
    #[prost(string, tag = "1")]
    pub(crate) done: String,
}

#[async_trait]
pub(crate) trait Sms: Send + Sync + 'static {
    async fn send(&self, request: Request<Message>) -> Result<Response<Receipt>, Status>;
}

pub(crate) struct SmsServer<T>(Arc<T>);

impl<T> SmsServer<T> {
    pub(crate) fn new(service: T) -> Self {
        Self(Arc::new(service))
    }
}

impl<T> Clone for SmsServer<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> server::NamedService for SmsServer<T> {
    const NAME: &'static str = "demo.Sms";
}

impl<T: Sms> Service<http::Request<Body>> for SmsServer<T> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move {
            if request.uri().path() != SEND {
                return Ok(Status::unimplemented("no such method").into_http());
            }
            let send = service_fn(move |request| {
                let service = service.clone();
                async move { service.send(request).await }
            });
            Ok(server::Grpc::new(ProstCodec::default()).unary(send, request).await)
        })
    }
}

pub(crate) struct SmsClient(client::Grpc<Channel>);

impl SmsClient {
    pub(crate) fn new(channel: Channel) -> Self {
        Self(client::Grpc::new(channel))
    }

    pub(crate) async fn send(
        &mut self,
        request: Request<Message>,
    ) -> Result<Response<Receipt>, Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = PathAndQuery::from_static(SEND);
        self.0.unary(request, path, ProstCodec::<Message, Receipt>::default()).await
    }
}
