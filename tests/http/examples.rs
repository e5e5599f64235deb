//! The services of `examples/`, as they are.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::{App, HttpServer, middleware, web};
use axum::extract::Request;
use axum::middleware::Next;
use ratelimit_kit::{Limiter, ManualClock, testing};
use tonic::Code;
use tonic::transport::Channel;
use tonic::transport::server::TcpIncoming;
use tonic_types::StatusExt;

use self::tonic_service::sms::{Message, SmsClient};
use crate::connections::Socket;
use crate::support::client::{Answer, Ask, ask, get};
use crate::support::site::serve_router;

#[path = "../../examples/actix_service.rs"]
mod actix_service;
#[path = "../../examples/axum_chat.rs"]
#[expect(dead_code, reason = "its `main`")]
mod axum_chat;
#[path = "../../examples/axum_service.rs"]
#[expect(dead_code, reason = "its `main`")]
mod axum_service;
#[path = "../../examples/tonic_service/main.rs"]
#[expect(dead_code, reason = "its `main`")]
mod tonic_service;
#[path = "../../examples/tower_service.rs"]
#[expect(dead_code, reason = "its `main`")]
mod tower_service;

/// `axum_service`, with a limiter of its own.
fn serve_axum(limiter: Limiter) -> SocketAddr {
    let scope = axum::middleware::from_fn(move |request: Request, next: Next| {
        let limiter = limiter.clone();
        async move { testing::with_limiter_async(&limiter, next.run(request)).await }
    });
    serve_router(axum_service::app().layer(scope))
}

/// `actix_service`, with a limiter of its own. Its thread ends with the process.
fn serve_actix(limiter: Limiter) -> SocketAddr {
    async fn scope(
        limiter: web::Data<Limiter>,
        request: ServiceRequest,
        next: middleware::Next<impl MessageBody>,
    ) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
        testing::with_limiter_async(&limiter, next.call(request)).await
    }
    let (limiter, layer) = (web::Data::new(limiter), actix_service::layer());
    let app = move || {
        App::new()
            .app_data(limiter.clone())
            .wrap(layer.clone())
            .wrap(middleware::from_fn(scope))
            .configure(actix_service::routes)
    };
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let server = HttpServer::new(app).workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
        tell.send(server.addrs()[0]).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    address.recv().unwrap()
}

/// `axum_chat`: five messages for an address, over two connections.
#[test]
fn b137_the_chat() {
    // A limiter of a test ends with the request, so this is that of the process, in real time.
    let address = serve_router(axum_chat::app());
    let [mut one, mut other] = [(); 2].map(|()| Socket::open(address, "/chat"));
    assert_eq!(one.times(3, "hi"), ["you said hi"; 3]);
    assert_eq!(other.times(2, "ho"), ["you said ho"; 2]);
    // One comes back each second, however slow the machine is.
    let (mut answers, begun) = (one.times(40, "hi"), std::time::Instant::now());
    answers.retain(|answer| answer == "you said hi");
    let back = begun.elapsed().as_secs() + 6;
    assert!(u64::try_from(answers.len()).unwrap() <= back.min(39), "{answers:?}");
    assert!(other.times(40, "ho").contains(&"slower, please: 429".to_owned()));
}

/// The services of the tutorials, on both frameworks, with the time in the test's hands.
fn everywhere(test: impl Fn(&str, SocketAddr, &ManualClock)) {
    let (limiter, clock) = testing::limiter();
    test("axum", serve_axum(limiter), &clock);
    let (limiter, clock) = testing::limiter();
    test("actix", serve_actix(limiter), &clock);
}

/// Who waits as told is admitted, and who comes a millisecond earlier is not.
#[track_caller]
fn comes_back(ask: &Ask, address: SocketAddr, clock: &ManualClock, wait: Duration) {
    let refused = ask.to(address);
    refused.is_refusal();
    assert_eq!(refused.header("retry-after"), wait.as_secs().to_string());
    let millisecond = Duration::from_millis(1);
    clock.advance(wait.saturating_sub(millisecond));
    let early = ask.to(address);
    early.is_refusal();
    assert_eq!(early.header("retry-after"), "1");
    clock.advance(millisecond);
    assert_eq!(ask.to(address).status, 200);
}

#[test]
fn messages_are_five_a_minute_for_an_address() {
    everywhere(|framework, address, clock| {
        let send = ask("POST", "/api/sms/send");
        assert_eq!(send.times(5, address), [200; 5], "{framework}");
        // Whoever one says to be.
        let ann = ask("POST", "/api/sms/send").header("x-user-id", "ann");
        ann.to(address).is_refusal();
        comes_back(&send, address, clock, Duration::from_mins(1));
        assert_eq!(send.times(5, address), [200, 200, 200, 200, 429], "{framework}");
    });
}

#[test]
fn queries_are_twenty_in_ten_seconds_for_a_user() {
    everywhere(|framework, address, clock| {
        let nobody = get("/api/order/query");
        let of = |user: &str| get("/api/order/query").header("x-user-id", user);
        for ask in [&of("ann"), &of("bob"), &nobody] {
            assert_eq!(ask.times(20, address), [200; 20], "{framework}: {ask:?}");
            ask.to(address).is_refusal();
        }
        // Who says nothing is limited by address, and so is who says that he is nobody.
        of("").to(address).is_refusal();
        assert_eq!(of("eve").to(address).status, 200, "{framework}");
        comes_back(&nobody, address, clock, Duration::from_secs(10));
        assert_eq!(nobody.times(20, address)[18..], [200, 429], "{framework}");
    });
}

#[test]
fn a_report_takes_from_its_tenant_and_from_all_or_from_neither() {
    everywhere(|framework, address, clock| {
        let of = |tenant: &str| get("/api/report").header("x-tenant", tenant).to(address);
        let is = |answer: Answer, status: u16, fields: &str| {
            assert_eq!(answer.status, status, "{framework}: {answer:?}");
            assert_eq!(answer.header("ratelimit"), fields, "{framework}");
        };
        is(of("acme"), 200, r#""report-tenant";r=2;t=10, "report-all";r=4;t=1"#);
        is(of("acme"), 200, r#""report-tenant";r=1;t=20, "report-all";r=3;t=2"#);
        is(of("acme"), 200, r#""report-tenant";r=0;t=30, "report-all";r=2;t=3"#);
        // Refused for the tenant: nothing is taken from all.
        is(of("acme"), 429, r#""report-tenant";r=0;t=10, "report-all";r=2;t=3"#);
        is(of("shop"), 200, r#""report-tenant";r=2;t=10, "report-all";r=1;t=4"#);
        is(of("shop"), 200, r#""report-tenant";r=1;t=20, "report-all";r=0;t=5"#);
        // Refused for all: nothing is taken from the tenant.
        is(of("shop"), 429, r#""report-tenant";r=1;t=20, "report-all";r=0;t=1"#);
        clock.advance(Duration::from_secs(1));
        is(of("acme"), 429, r#""report-tenant";r=0;t=9, "report-all";r=1;t=4"#);
        is(of("shop"), 200, r#""report-tenant";r=0;t=29, "report-all";r=0;t=5"#);
    });
}

#[test]
fn a_tower_service_limits_by_its_layer_and_by_an_annotation() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    // Its thread ends with the process.
    thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            tower_service::serve(listener).await
        })
    });
    let of = |user: &str| get("/quote").header("x-user-id", user);
    assert_eq!(of("ann").times(3, address), [200; 3]);
    let refused = of("ann").to(address);
    refused.is_refusal();
    assert_eq!(refused.header("ratelimit-policy"), r#""address";q=10;w=60, "quote";q=3;w=60"#);
    assert_eq!(of("bob").to(address).status, 200);
    // All paths count, also those that there are not, and what the handler has refused.
    assert_eq!(get("/nothing").times(5, address), [404; 5]);
    let refused = of("bob").to(address);
    refused.is_refusal();
    assert_eq!(refused.header("ratelimit-policy"), r#""address";q=10;w=60"#);
}

#[tokio::test]
async fn a_grpc_client_is_told_when_to_come_back() {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap();
    tokio::spawn(tonic_service::serve(incoming));
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    let mut client = SmsClient::new(channel.connect().await.unwrap());
    for left in (0..5).rev() {
        let told = tonic_service::call(&mut client).await.unwrap();
        let fields = format!(r#"ratelimit: "sms-grpc";r={left};t=60"#);
        assert_eq!(told, format!("sent 6 characters to 13800000000; {fields}"));
    }
    let told = tonic_service::call(&mut client).await.unwrap();
    assert!(told.starts_with("refused with code 8 (ResourceExhausted); RetryInfo: in "), "{told}");

    let status = client.send(tonic::Request::new(Message::default())).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    let minute = Duration::from_mins(1);
    assert!((minute / 2..=minute).contains(&wait), "{wait:?}");
    assert!(status.metadata().contains_key("ratelimit"), "{status:?}");
}
