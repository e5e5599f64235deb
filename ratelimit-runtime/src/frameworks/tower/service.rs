//! The service that the layer makes.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::future::RateLimitFuture;
use super::refusal::{Protocol, TextBody};
use crate::context::RequestContext;
use crate::request::RequestInfo;
use crate::web::{RateLimitLayer, Settings};

/// A service behind a [`RateLimitLayer`].
#[derive(Clone)]
pub struct RateLimitService<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S> tower_layer::Layer<S> for RateLimitLayer {
    type Service = RateLimitService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimitService { inner, settings: self.settings.clone() }
    }
}

impl<S, Req, Res> Service<Request<Req>> for RateLimitService<S>
where
    S: Service<Request<Req>, Response = Response<Res>> + Clone + Send + 'static,
    S::Future: Send,
    Req: Send + 'static,
    Res: TextBody,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = RateLimitFuture<S::Future>;

    fn poll_ready(&mut self, task: &mut Task<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, mut request: Request<Req>) -> Self::Future {
        let outer = request.extensions().get::<RequestContext>().cloned();
        let is_outermost = outer.is_none();
        let context = self.settings.context(&RequestInfo::of_http(&request), outer);
        request.extensions_mut().insert(context.clone());

        let finish = is_outermost.then(|| self.settings.clone());

        if !self.settings.has_rules_for(&context) {
            // Called at once, so that nothing need be cloned: services are often large.
            let response = context.clone().scope_blocking(|| self.inner.call(request));
            return RateLimitFuture::called(context, response, finish);
        }
        // The one that was polled is ready, and its clone may not be.
        let clone = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, clone);
        let (settings, of_request) = (self.settings.clone(), context.clone());
        let protocol = Protocol::of(&request, context.grpc());
        let response = async move {
            match settings.decide(&of_request).await {
                Ok(()) => inner.call(request).await,
                Err(error) => Ok(protocol.refuse(error)),
            }
        };
        RateLimitFuture::deciding(context, Box::pin(response), finish)
    }
}

impl<S: fmt::Debug> fmt::Debug for RateLimitService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
