//! gRPC: contexts by the layer, rules of a whole service, and budgets that HTTP shares.

use std::net::SocketAddr;
use std::time::Duration;

use ratelimit_kit::{
    Algorithm, ClientIp, Limiter, OnError, RateLimitError, RateLimitLayer, RequestContext, Rule,
    rate_limit,
};
use test_support::{Flavor, Server as Redis, unique};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status, async_trait};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_types::StatusExt;

use crate::support::site::{Use, by_path, ip, serve_router};
use crate::support::{client, limiter, without_a_store};

type Reply = Result<Response<HealthCheckResponse>, Status>;

fn reply() -> Response<HealthCheckResponse> {
    Response::new(HealthCheckResponse { status: 1 })
}

/// A service that is asked for what it is to be limited by.
struct Contexts {
    limiter: Limiter,
}

impl Contexts {
    fn limiter(&self) -> Use {
        Use(self.limiter.clone())
    }

    #[rate_limit(
        name = "grpc-key",
        key = "@header['x-api-key'] ?: 'none'",
        algo = fixed_window,
        limit = 2,
        window = 60,
        limiter = self.limiter,
    )]
    async fn by_header(&self) -> Result<(), Status> {
        Ok(())
    }

    #[rate_limit(
        name = "grpc-user",
        key = "@user ?: 'anonymous'",
        algo = fixed_window,
        limit = 2,
        window = 60,
        limiter = self.limiter,
    )]
    async fn by_user(&self) -> Result<(), Status> {
        Ok(())
    }
}

#[async_trait]
impl Health for Contexts {
    type WatchStream = tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Reply {
        match &*request.into_inner().service {
            "ip" => drop(ip(self.limiter()).await?),
            "path" => drop(by_path(self.limiter()).await?),
            "header" => self.by_header().await?,
            "user" => self.by_user().await?,
            _ => {}
        }
        Ok(reply())
    }

    #[rate_limit(
        name = "grpc-method",
        key = "@method + @path + @ip",
        algo = fixed_window,
        limit = 2,
        window = 60,
        limiter = self.limiter,
    )]
    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(tokio_stream::empty()))
    }
}

async fn serve(layer: Option<RateLimitLayer>, service: impl Health) -> HealthClient<Channel> {
    let address: SocketAddr = ([127, 0, 0, 1], 0).into();
    let incoming = TcpIncoming::bind(address).unwrap();
    let address = incoming.local_addr().unwrap();
    let service = HealthServer::new(service);
    match layer {
        Some(layer) => {
            let server = Server::builder().layer(layer).add_service(service);
            tokio::spawn(server.serve_with_incoming(incoming));
        }
        None => {
            tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        }
    }
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    HealthClient::new(channel.connect().await.unwrap())
}

fn layer() -> RateLimitLayer {
    RateLimitLayer::new()
        .client_ip(ClientIp::behind(["127.0.0.1"]).unwrap())
        .user(|of| of.header("x-user-id").map(str::to_owned))
}

/// A call, and what became of it.
async fn check(
    client: &mut HealthClient<Channel>,
    service: &str,
    header: Option<(&'static str, &'static str)>,
) -> Result<(), Status> {
    let mut request = Request::new(HealthCheckRequest { service: service.to_owned() });
    if let Some((name, value)) = header {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    client.check(request).await.map(drop)
}

#[track_caller]
fn is_refusal(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!((Duration::from_secs(1)..=Duration::from_mins(1)).contains(&wait), "{wait:?}");
    assert!(!format!("{:?}", status.message()).contains("ip"), "{status:?}");
}

#[tokio::test]
async fn what_is_known_of_a_call_is_in_keys() {
    let mut client = serve(Some(layer()), Contexts { limiter: limiter() }).await;
    let each = [
        ("ip", "x-forwarded-for", "203.0.113.1"),
        ("ip", "x-forwarded-for", "203.0.113.2"),
        ("header", "x-api-key", "k1"),
        ("header", "x-api-key", "k2"),
        ("user", "x-user-id", "ann"),
        ("user", "x-user-id", "bob"),
    ];
    for _ in 0..2 {
        for (service, name, value) in each {
            check(&mut client, service, Some((name, value))).await.unwrap();
        }
    }
    for (service, name, value) in each {
        let status = check(&mut client, service, Some((name, value))).await.unwrap_err();
        is_refusal(&status);
        // Header fields are metadata here.
        assert!(status.metadata().contains_key("ratelimit"), "{status:?}");
    }
    // The peer itself, known to tonic.
    check(&mut client, "ip", None).await.unwrap();
    for refused in [false, false, true] {
        assert_eq!(check(&mut client, "path", None).await.is_err(), refused);
    }
    // The annotated method of a trait.
    let mut watch = async || client.watch(HealthCheckRequest::default()).await;
    assert!(watch().await.is_ok() && watch().await.is_ok());
    is_refusal(&watch().await.unwrap_err());
}

#[tokio::test]
async fn without_a_layer_there_is_no_budget_to_share() {
    let mut client = serve(None, Contexts { limiter: limiter() }).await;
    for service in ["ip", "path", "header", "user"] {
        for _ in 0..4 {
            let status = check(&mut client, service, Some(("x-user-id", "ann"))).await.unwrap_err();
            assert_eq!(status.code(), Code::Internal, "{status:?}");
            assert!(!status.metadata().contains_key("ratelimit"));
        }
    }
}

#[tokio::test]
async fn a_layer_limits_a_whole_service() {
    let window = Duration::from_mins(1);
    let rule = |name| Rule::new(name, Algorithm::FixedWindow { limit: 2, window });
    let site = layer().limiter(limiter()).limit(rule("grpc-site"), RequestContext::ip_key);
    let mut client = serve(Some(site), Contexts { limiter: limiter() }).await;
    check(&mut client, "", None).await.unwrap();
    check(&mut client, "", None).await.unwrap();
    is_refusal(&check(&mut client, "", None).await.unwrap_err());
    check(&mut client, "", Some(("x-forwarded-for", "203.0.113.1"))).await.unwrap();

    let closed = rule("closed").with_on_error(OnError::Closed);
    let closed = layer().limiter(without_a_store()).limit(closed, RequestContext::ip_key);
    let mut client = serve(Some(closed), Contexts { limiter: limiter() }).await;
    let status = check(&mut client, "", None).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(!status.metadata().contains_key("ratelimit"));

    for (key, code) in [("", Code::InvalidArgument), ("no peer", Code::Internal)] {
        let key = move |context: &RequestContext| {
            if key.is_empty() { ratelimit_kit::LimitKey::from("") } else { context.ip_key() }
        };
        let mistaken = layer().peer(|_| None).limiter(limiter()).limit(rule("mistake"), key);
        let mut client = serve(Some(mistaken), Contexts { limiter: limiter() }).await;
        assert_eq!(check(&mut client, "", None).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn one_router_refuses_each_protocol_in_its_own() {
    let window = Duration::from_mins(1);
    let rule = Rule::new("grpc-and-http", Algorithm::FixedWindow { limit: 2, window });
    let contexts = HealthServer::new(Contexts { limiter: limiter() });
    let router = tonic::service::Routes::new(contexts)
        .into_axum_router()
        .route("/http", axum::routing::get(async || "ok"))
        .layer(layer().limiter(limiter()).limit(rule, RequestContext::ip_key));
    let address = serve_router(router);
    let http = async || {
        let ask = client::get("/http");
        tokio::task::spawn_blocking(move || ask.to(address)).await.unwrap()
    };
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    let mut grpc = HealthClient::new(channel.connect().await.unwrap());
    assert_eq!(http().await.status, 200);
    check(&mut grpc, "", None).await.unwrap();
    let refused = http().await;
    refused.is_refusal();
    assert_eq!(refused.header("content-type"), "application/problem+json");
    is_refusal(&check(&mut grpc, "", None).await.unwrap_err());
}

/// A service of which the budget is that of an HTTP handler too.
struct Shared {
    limiter: Limiter,
}

#[async_trait]
impl Health for Shared {
    type WatchStream = tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    #[rate_limit(
        name = "b125",
        key = request.get_ref().service,
        algo = fixed_window,
        limit = 4,
        window = 60,
        on_error = closed,
        limiter = self.limiter,
    )]
    async fn check(&self, request: Request<HealthCheckRequest>) -> Reply {
        Ok(reply())
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}

#[rate_limit(
    name = "b125",
    key = "id",
    algo = fixed_window,
    limit = 4,
    window = 60,
    on_error = closed,
    limiter = limiter,
)]
async fn shared(
    axum::extract::State(limiter): axum::extract::State<Limiter>,
    axum::extract::Path(id): axum::extract::Path<String>,
) -> Result<String, RateLimitError> {
    Ok(id)
}

#[tokio::test]
async fn b125_http_and_grpc_share_one_budget() {
    let mut redis = Redis::start(Flavor::Installed);
    // Two instances of a service, one for each protocol.
    let instance = || {
        let builder = Limiter::builder().redis(redis.url()).deadline(Duration::from_secs(5));
        builder.build().unwrap()
    };
    let (of_http, of_grpc) = (instance(), instance());
    of_http.ready().await.unwrap();
    of_grpc.ready().await.unwrap();
    let router = axum::Router::new()
        .route("/{id}", axum::routing::get(shared))
        .with_state(of_http)
        .layer(RateLimitLayer::new());
    let address = serve_router(router);
    let mut grpc = serve(Some(RateLimitLayer::new()), Shared { limiter: of_grpc }).await;
    let id = unique("b125");
    let http = async || {
        let ask = client::get(&format!("/{id}"));
        tokio::task::spawn_blocking(move || ask.to(address)).await.unwrap()
    };
    for _ in 0..2 {
        assert_eq!(http().await.status, 200);
        check(&mut grpc, &id, None).await.unwrap();
    }
    let refused = http().await;
    refused.is_refusal();
    assert!(refused.header("ratelimit").starts_with(r#""b125";r=0;t="#), "{refused:?}");
    is_refusal(&check(&mut grpc, &id, None).await.unwrap_err());

    redis.kill();
    http().await.is_unavailable();
    let status = check(&mut grpc, &id, None).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}
