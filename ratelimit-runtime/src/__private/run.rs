//! [`Run`]: the future that an annotated function awaits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::call::Call;
use crate::error::RateLimitError;

/// How a call begins.
pub(super) enum Start {
    /// The body may run.
    Admitted,
    /// It may, when its turn has come.
    Sleep(Duration),
    /// The store must be asked.
    Ask,
}

type Waiting = Pin<Box<dyn Future<Output = Result<(), RateLimitError>> + Send>>;

/// Decides a call.
///
/// Written by hand, and in a box as soon as it waits: an `async fn` would be a part of the future of
/// every annotated function, which makes those large, and slow to compile. A decision that takes no
/// waiting allocates nothing.
#[must_use = "futures do nothing until they are awaited"]
pub struct Run {
    /// Until the first poll.
    call: Option<Call>,
    /// After it, if there is something to wait for.
    waiting: Option<Waiting>,
}

impl Run {
    #[inline]
    pub(super) const fn new(call: Call) -> Self {
        Self { call: Some(call), waiting: None }
    }
}

impl Future for Run {
    type Output = Result<(), RateLimitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(call) = self.call.take() {
            self.waiting = Some(match call.start() {
                Ok(Start::Admitted) => return Poll::Ready(Ok(())),
                Ok(Start::Sleep(delay)) => Box::pin(call.sleep(delay)),
                Ok(Start::Ask) => Box::pin(call.ask()),
                Err(error) => return Poll::Ready(Err(error)),
            });
        }
        match &mut self.waiting {
            Some(waiting) => waiting.as_mut().poll(context),
            // Only when polled after its end.
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}
