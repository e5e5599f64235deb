//! The service that the layer makes.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use http::{HeaderName, HeaderValue, Request, Response};
use tower_service::Service;

use super::refusal::RefusalBody;
use crate::context::Context;
use crate::web::{self, RateLimitLayer, Settings};

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
    Res: RefusalBody,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, task: &mut Task<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<Req>) -> Self::Future {
        let settings = self.settings.clone();
        let (mut parts, body) = request.into_parts();
        let outer = parts.extensions.get::<Context>().cloned();
        let is_outermost = outer.is_none();
        let context = settings.context(&web::Request::of_http(&parts), outer);
        parts.extensions.insert(context.clone());
        let request = Request::from_parts(parts, body);

        if !settings.has_rules() {
            // Called at once, so that nothing need be cloned: services are often large.
            let response = context.clone().scope_blocking(|| self.inner.call(request));
            return Box::pin(async move {
                let response = context.clone().scope(response).await?;
                Ok(finish(response, &settings, is_outermost.then_some(&context)))
            });
        }
        // The one that was polled is ready, and its clone may not be.
        let clone = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, clone);
        Box::pin(context.clone().scope(async move {
            let response = match settings.decide(&context).await {
                Ok(()) => inner.call(request).await?,
                Err(error) => Res::refusal(error),
            };
            Ok(finish(response, &settings, is_outermost.then_some(&context)))
        }))
    }
}

/// The response with the header fields for what was decided in a context.
fn finish<B>(
    mut response: Response<B>,
    settings: &Settings,
    context: Option<&Context>,
) -> Response<B> {
    let fields = context.map(|context| settings.fields(context));
    for (name, value) in fields.into_iter().flatten() {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

impl<S: fmt::Debug> fmt::Debug for RateLimitService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
