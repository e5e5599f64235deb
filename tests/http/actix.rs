//! Handlers of actix-web stay handlers, and their refusals are responses.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{App, HttpResponse, HttpServer, Responder, web};
use ratelimit_kit::{ErrorResponses, Limiter, RateLimitError, RateLimitLayer, rate_limit};
use serde::{Deserialize, Serialize};

use crate::support::client::send;
use crate::support::{limiter, without_a_store};

#[derive(Deserialize, Serialize)]
struct Body {
    user: String,
}

/// An error type as people write them.
#[derive(Debug)]
struct Error(RateLimitError);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<RateLimitError> for Error {
    fn from(error: RateLimitError) -> Self {
        Self(error)
    }
}

impl actix_web::ResponseError for Error {
    fn error_response(&self) -> HttpResponse {
        self.0.error_response()
    }
}

#[rate_limit(
    key = "id + b.user",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = limiter,
)]
async fn plain(
    limiter: web::Data<Limiter>,
    id: web::Path<u64>,
    b: web::Json<Body>,
) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().body(format!("{id} {}", b.user)))
}

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
async fn hidden(limiter: web::Data<Limiter>, id: web::Path<u64>) -> impl Responder {
    if *id == 0 {
        return web::Either::Left(HttpResponse::NotFound());
    }
    web::Either::Right(web::Json(Body { user: id.to_string() }))
}

#[rate_limit(
    key = "id",
    algo = fixed_window,
    limit = 2,
    window = 60,
    limiter = limiter,
    on_limited = HttpResponse::TooManyRequests().body("slow down"),
)]
async fn answered(limiter: web::Data<Limiter>, id: web::Path<u64>) -> impl Responder {
    id.to_string()
}

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
async fn response(limiter: web::Data<Limiter>, id: web::Path<u64>) -> HttpResponse {
    HttpResponse::Ok().body(id.to_string())
}

#[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
async fn own_error(
    limiter: web::Data<Limiter>,
    id: web::Path<u64>,
) -> Result<String, RateLimitError> {
    Ok(id.to_string())
}

async fn ok() -> &'static str {
    "ok"
}

/// What a middleware makes of somebody else's errors is an error, and no response yet.
async fn guarded<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    #[rate_limit(
        name = "guarded",
        key = "@path",
        algo = fixed_window,
        limit = 1,
        window = 60,
        on_error = closed,
        limiter = limiter,
    )]
    async fn guard(limiter: &Limiter) -> Result<(), Error> {
        Ok(())
    }
    let limiter = request.app_data::<web::Data<Limiter>>().expect("the service has one").clone();
    guard(&limiter).await?;
    next.call(request).await
}

/// A service with all handlers of this file. Its thread ends with the process.
fn serve(limiter: Limiter) -> SocketAddr {
    let limiter = web::Data::new(limiter);
    let answers = || RateLimitLayer::new().error_responses(ErrorResponses::code_and_message());
    let guarded = || from_fn(guarded::<BoxBody>);
    let app = move || {
        App::new()
            .app_data(limiter.clone())
            .route("/plain/{id}", web::post().to(plain))
            .route("/hidden/{id}", web::get().to(hidden))
            .route("/answered/{id}", web::get().to(answered))
            .route("/response/{id}", web::get().to(response))
            .route("/own_error/{id}", web::get().to(own_error))
            .service(web::scope("/guarded").wrap(guarded()).wrap(answers()).route("", web::to(ok)))
            .service(
                web::scope("/inside")
                    .wrap(guarded())
                    .wrap(answers())
                    .wrap(RateLimitLayer::new())
                    .route("", web::to(ok)),
            )
    };
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let server = HttpServer::new(app).workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
        tell.send(server.addrs()[0]).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    address.recv().unwrap()
}

#[test]
fn b010_handlers_are_limited() {
    let address = serve(limiter());
    let post = || send(address, "/plain/7", Some(r#"{"user":"ann"}"#));
    assert_eq!(post().body, "7 ann");
    assert_eq!(post().status, 200);
    post().is_refusal();
}

#[test]
fn every_kind_of_return_can_refuse() {
    let address = serve(limiter());
    for path in ["/hidden/7", "/hidden/0", "/response/7", "/own_error/7"] {
        let status = if path == "/hidden/0" { 404 } else { 200 };
        for _ in 0..2 {
            assert_eq!(send(address, path, None).status, status, "{path}");
        }
        send(address, path, None).is_refusal();
    }
    assert_eq!(send(address, "/answered/7", None).status, 200);
    assert_eq!(send(address, "/answered/7", None).status, 200);
    let answered = send(address, "/answered/7", None);
    assert_eq!((answered.status, &*answered.body), (429, "slow down"));
}

#[test]
fn a_store_that_does_not_answer_is_not_a_refusal() {
    let address = serve(without_a_store());
    for path in ["/hidden/7", "/response/7", "/own_error/7"] {
        send(address, path, None).is_unavailable();
    }
    assert_eq!(send(address, "/answered/7", None).body, "slow down");
}

#[test]
fn errors_of_middlewares_are_answered_as_the_layer_says() {
    let address = serve(limiter());
    for path in ["/guarded", "/inside"] {
        assert_eq!(send(address, path, None).body, "ok", "{path}");
        let refused = send(address, path, None);
        assert_eq!((refused.status, refused.header("retry-after")), (429, "60"), "{path}");
        assert_eq!(refused.header("ratelimit"), r#""guarded";r=0;t=60"#, "{path}");
        assert_eq!(refused.body, r#"{"code":429,"message":"too many requests"}"#, "{path}");
    }
    let address = serve(without_a_store());
    for path in ["/guarded", "/inside"] {
        let unavailable = send(address, path, None);
        assert_eq!((unavailable.status, unavailable.fields().len()), (503, 0), "{path}");
        assert_eq!(unavailable.body, r#"{"code":503,"message":"service unavailable"}"#, "{path}");
    }
}
