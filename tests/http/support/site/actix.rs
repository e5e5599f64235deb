//! The site on actix-web.

use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use actix_web::dev::Payload;
use actix_web::middleware::Condition;
use actix_web::{App, Error, FromRequest, HttpRequest, HttpServer, web};
use ratelimit_kit::Limiter;

use super::Site;
use super::handlers::{self, Use};

impl FromRequest for Use {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let limiter = request.app_data::<web::Data<Limiter>>().expect("the site has one");
        ready(Ok(Self(limiter.get_ref().clone())))
    }
}

/// Its thread ends with the process.
pub(super) fn serve(site: Site) -> SocketAddr {
    let limiter = web::Data::new(site.limiter);
    let on = site.on;
    let layer = site.layer.clone().unwrap_or_default();
    let app = move || {
        App::new()
            .app_data(limiter.clone())
            .wrap(Condition::new(site.layer.is_some(), layer.clone()))
            .route("/free", web::get().to(handlers::free))
            .route("/health", web::get().to(handlers::free))
            .route("/", web::get().to(handlers::free))
            .service(web::resource("/inner").wrap(site.inner.clone()).to(handlers::user))
            .route("/ip", web::get().to(handlers::ip))
            .route("/user", web::get().to(handlers::user))
            .route("/tenant", web::get().to(handlers::tenant))
            .route("/device", web::get().to(handlers::device))
            .service(web::scope("/path").route("/{x}", web::get().to(handlers::by_path)))
            .route("/method", web::to(handlers::method))
            .route("/header", web::get().to(handlers::header))
            .route("/year", web::get().to(handlers::minute_and_year))
            .route("/hour", web::get().to(handlers::minute_and_hour))
            .route("/spawned", web::get().to(handlers::spawned))
            .route("/lost", web::get().to(handlers::lost))
            .route("/costly", web::get().to(handlers::costly))
            .route("/ten", web::get().to(handlers::ten_seconds))
            .route("/zero", web::get().to(handlers::zero))
    };
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let server = HttpServer::new(app).workers(1).disable_signals().bind(on).unwrap();
        tell.send(server.addrs()[0]).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    address.recv().unwrap()
}
