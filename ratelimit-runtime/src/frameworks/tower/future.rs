//! The future of a response.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, ready};

use http::header::{CACHE_CONTROL, EXPIRES};
use http::{HeaderMap, HeaderValue, Response};
use pin_project_lite::pin_project;
use tokio::task::futures::TaskLocalFuture;

use crate::context::RequestContext;
use crate::web::{Caching, Settings};

/// A decision by the layer's own rules, and the response after it.
type Deciding<F> = Pin<Box<dyn Future<Output = <F as Future>::Output> + Send>>;

pin_project! {
    /// The future of a response from behind a [`RateLimitLayer`](crate::RateLimitLayer).
    ///
    /// Written by hand, and only in a box where there is something to decide first: it holds that of all that
    /// is behind.
    #[must_use = "futures do nothing until they are awaited"]
    pub struct RateLimitFuture<F: Future> {
        #[pin]
        response: Kind<F>,
        // Of the outermost layer, which writes the header fields.
        finish: Option<Arc<Settings>>,
    }
}

pin_project! {
    #[project = KindProjection]
    enum Kind<F: Future> {
        Called { #[pin] response: TaskLocalFuture<RequestContext, F> },
        Deciding { #[pin] response: TaskLocalFuture<RequestContext, Deciding<F>> },
    }
}

impl<F: Future> RateLimitFuture<F> {
    pub(super) fn called(
        context: RequestContext,
        response: F,
        finish: Option<Arc<Settings>>,
    ) -> Self {
        Self { response: Kind::Called { response: context.around(response) }, finish }
    }

    pub(super) fn deciding(
        context: RequestContext,
        response: Deciding<F>,
        finish: Option<Arc<Settings>>,
    ) -> Self {
        Self { response: Kind::Deciding { response: context.around(response) }, finish }
    }
}

impl<F, B, E> Future for RateLimitFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let mut response = ready!(match this.response.as_mut().project() {
            KindProjection::Called { response } => response.poll(task),
            KindProjection::Deciding { response } => response.poll(task),
        })?;
        if let Some(settings) = this.finish.take() {
            let context = match this.response.project() {
                KindProjection::Called { response } => response.take_value(),
                KindProjection::Deciding { response } => response.take_value(),
            };
            finish(&settings, context, response.headers_mut());
        }
        Poll::Ready(Ok(response))
    }
}

/// Writes the header fields for what was decided.
fn finish(settings: &Settings, context: Option<RequestContext>, headers: &mut HeaderMap) {
    let Some(context) = context else { return };
    let caching =
        Caching::of(headers.get_all(CACHE_CONTROL).into_iter().map(HeaderValue::as_bytes))
            // A refusal is marked all the same.
            .or_expires(headers.contains_key(EXPIRES) && !context.had_rejection());
    settings.finish(&context, caching, |name, value| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    });
}

impl<F: Future> fmt::Debug for RateLimitFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitFuture").finish_non_exhaustive()
    }
}
