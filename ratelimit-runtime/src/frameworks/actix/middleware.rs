//! The layer as a middleware of actix-web.

use std::fmt;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{Service, ServiceRequest, ServiceResponse, Transform};
use actix_web::error::InternalError;
use actix_web::http::header::{CACHE_CONTROL, EXPIRES, HeaderMap, HeaderName, HeaderValue};
use actix_web::{Error, HttpMessage, ResponseError};

use crate::context::RequestContext;
use crate::request::RequestInfo;
use crate::web::{Caching, RateLimitLayer, Settings};

/// A service behind a [`RateLimitLayer`].
pub struct RateLimitMiddleware<S> {
    inner: Rc<S>,
    settings: Arc<Settings>,
}

impl<S, B> Transform<S, ServiceRequest> for RateLimitLayer
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = RateLimitMiddleware<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, inner: S) -> Self::Future {
        ready(Ok(RateLimitMiddleware { inner: Rc::new(inner), settings: self.settings.clone() }))
    }
}

impl<S, B> Service<ServiceRequest> for RateLimitMiddleware<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>>>>;

    fn poll_ready(&self, task: &mut Task<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let (inner, settings) = (self.inner.clone(), self.settings.clone());
        let outer = request.extensions().get::<RequestContext>().cloned();
        let is_outermost = outer.is_none();
        let context = settings.context(&RequestInfo::of_actix(request.request()), outer);
        request.extensions_mut().insert(context.clone());
        Box::pin(context.clone().scope(async move {
            let decision = if settings.has_rules_for(&context) {
                settings.decide(&context).await
            } else {
                Ok(())
            };
            let response = match decision {
                Ok(()) => inner.call(request).await.map(ServiceResponse::map_into_left_body),
                Err(error) => {
                    Ok(request.into_response(error.error_response()).map_into_right_body())
                }
            };
            match response {
                Ok(mut response) => {
                    if is_outermost {
                        finish(&settings, &context, response.headers_mut());
                    }
                    Ok(response)
                }
                // What is behind does not make responses of all its errors, and when somebody
                // outside does, the context is gone.
                Err(error) if settings.says_responses() || (is_outermost && context.has_news()) => {
                    // Once: the response of an inner layer is given away with it.
                    let mut response = error.error_response();
                    if is_outermost {
                        finish(&settings, &context, response.headers_mut());
                    }
                    Err(InternalError::from_response(error, response).into())
                }
                Err(error) => Err(error),
            }
        }))
    }
}

/// Writes the header fields for what was decided.
fn finish(settings: &Settings, context: &RequestContext, headers: &mut HeaderMap) {
    let caching = Caching::of(headers.get_all(CACHE_CONTROL).map(HeaderValue::as_bytes))
        // A refusal is marked all the same.
        .or_expires(headers.contains_key(EXPIRES) && !context.had_rejection());
    settings.finish(context, caching, |name, value| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name.as_str()), value);
        }
    });
}

impl<S> fmt::Debug for RateLimitMiddleware<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitMiddleware").finish_non_exhaustive()
    }
}
