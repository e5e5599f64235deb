//! Methods of a gRPC service, whose refusals are statuses.

use std::net::SocketAddr;
use std::time::Duration;

use ratelimit_kit::{Limiter, rate_limit};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status, async_trait};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_types::StatusExt;

use crate::support::{limiter, without_a_store};

/// A service whose code is generated, as all of them are.
struct Service {
    limiter: Limiter,
}

#[async_trait]
impl Health for Service {
    type WatchStream = tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    #[rate_limit(
        key = request.get_ref().service,
        algo = fixed_window,
        limit = 2,
        window = 60,
        limiter = self.limiter,
    )]
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let status = i32::try_from(request.into_inner().service.len()).unwrap();
        Ok(Response::new(HealthCheckResponse { status }))
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}

async fn serve(limiter: Limiter) -> HealthClient<Channel> {
    let address: SocketAddr = ([127, 0, 0, 1], 0).into();
    let incoming = TcpIncoming::bind(address).unwrap();
    let address = incoming.local_addr().unwrap();
    let server = Server::builder().add_service(HealthServer::new(Service { limiter }));
    tokio::spawn(server.serve_with_incoming(incoming));
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    HealthClient::new(channel.connect().await.unwrap())
}

fn call(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[tokio::test]
async fn a_refusal_is_resource_exhausted_with_its_wait() {
    let mut client = serve(limiter()).await;
    for _ in 0..2 {
        assert_eq!(client.check(call("abc")).await.unwrap().into_inner().status, 3);
    }
    let status = client.check(call("abc")).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let wait = status.get_details_retry_info().unwrap().retry_delay;
    assert_eq!(wait, Some(Duration::from_mins(1)));
    // Another key.
    assert!(client.check(call("ab")).await.is_ok());
}

#[tokio::test]
async fn what_is_no_refusal_has_another_code() {
    let mut client = serve(without_a_store()).await;
    assert_eq!(client.check(call("abc")).await.unwrap_err().code(), Code::Unavailable);
    let mut client = serve(limiter()).await;
    assert_eq!(client.check(call("")).await.unwrap_err().code(), Code::InvalidArgument);
}
