//! The service that the layer makes.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use tower_service::Service;

use super::refusal::RefusalBody;
use crate::context::Context;
use crate::web::{self, Field, RateLimitLayer, Settings};

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
        // The one that was polled is ready, and its clone may not be.
        let clone = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, clone);
        let settings = self.settings.clone();
        let (mut parts, body) = request.into_parts();
        let outer = parts.extensions.get::<Context>().cloned();
        let context = settings.context(&web::Request::of_http(&parts), outer.as_ref());
        parts.extensions.insert(context.clone());
        let request = Request::from_parts(parts, body);
        Box::pin(context.clone().scope(async move {
            let decision =
                if settings.has_rules() { settings.decide(&context).await } else { Ok(()) };
            let mut response = match decision {
                Ok(()) => inner.call(request).await?,
                Err(error) => Res::refusal(error),
            };
            if outer.is_none() {
                insert(response.headers_mut(), settings.fields(&context));
            }
            Ok(response)
        }))
    }
}

fn insert(headers: &mut HeaderMap, fields: impl Iterator<Item = Field>) {
    for (name, value) in fields {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for RateLimitService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
