//! [`Run`]: the future that an annotated function awaits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::RateLimitError;

type Waiting = Pin<Box<dyn Future<Output = Result<(), RateLimitError>> + Send>>;

/// How a call ended, or will.
///
/// Written by hand, and in a box as soon as it waits: an `async fn` would be a part of the future of
/// every annotated function, which makes those large, and slow to compile. A decision that takes no
/// waiting is made before there is a future, and allocates nothing.
#[must_use = "futures do nothing until they are awaited"]
pub struct Run {
    state: State,
}

enum State {
    Admitted,
    /// Until the first poll.
    Limited(Option<RateLimitError>),
    Waiting(Waiting),
}

impl Run {
    pub(super) const fn admitted() -> Self {
        Self { state: State::Admitted }
    }

    pub(super) const fn limited(error: RateLimitError) -> Self {
        Self { state: State::Limited(Some(error)) }
    }

    pub(super) fn waiting(
        future: impl Future<Output = Result<(), RateLimitError>> + Send + 'static,
    ) -> Self {
        Self { state: State::Waiting(Box::pin(future)) }
    }
}

impl Future for Run {
    type Output = Result<(), RateLimitError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            State::Admitted => Poll::Ready(Ok(())),
            // Nothing is left of the error only when this is polled after its end.
            State::Limited(error) => {
                error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error)))
            }
            State::Waiting(waiting) => waiting.as_mut().poll(context),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}
