//! [`Run`]: the future that an annotated function awaits.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::decision::RateLimitError;
use crate::limiter::{Place, Question};

/// The store is asked. No place: nothing was to be decided.
type Asking = Question<Result<Option<Place<'static>>, RateLimitError>>;

type InLine = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a call ended, or will.
///
/// Written by hand, and in a box as soon as it waits: an `async fn` would be a part of the future of
/// every annotated function, which makes those large, and slow to compile. A decision that takes no
/// waiting is made before there is a future, and allocates nothing.
///
/// Dropped before its end, its caller has left, and what it was charged is refunded. While it waits
/// for its turn it knows what that is. While the store is asked nobody does: see `Question`.
#[must_use = "futures do nothing until they are awaited"]
pub struct Run {
    state: State,
}

enum State {
    Admitted,
    /// Until the first poll.
    Limited(Option<RateLimitError>),
    Asking(Asking),
    InLine(InLine),
}

impl Run {
    pub(super) const fn admitted() -> Self {
        Self { state: State::Admitted }
    }

    pub(super) const fn limited(error: RateLimitError) -> Self {
        Self { state: State::Limited(Some(error)) }
    }

    pub(super) const fn asking(asking: Asking) -> Self {
        Self { state: State::Asking(asking) }
    }

    pub(super) fn queued_for(place: Place<'static>) -> Self {
        Self { state: State::InLine(Box::pin(place.turn())) }
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
            State::Asking(_) | State::InLine(_) => self.waiting(context),
        }
    }
}

impl Run {
    fn waiting(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RateLimitError>> {
        loop {
            // Not in its place meanwhile: what has panicked is not finished for anybody.
            match mem::replace(&mut self.state, State::Limited(None)) {
                State::Admitted => {
                    self.state = State::Admitted;
                    return Poll::Ready(Ok(()));
                }
                State::Limited(_) => return Poll::Pending,
                State::Asking(mut asking) => {
                    let Poll::Ready(answer) = Pin::new(&mut asking).poll(context) else {
                        self.state = State::Asking(asking);
                        return Poll::Pending;
                    };
                    self.state = match answer {
                        Ok(Some(place)) if !place.is_due() => State::InLine(Box::pin(place.turn())),
                        Ok(place) => {
                            place.into_iter().for_each(Place::take);
                            State::Admitted
                        }
                        Err(error) => return Poll::Ready(Err(error)),
                    };
                }
                State::InLine(mut queued_for) => {
                    if queued_for.as_mut().poll(context).is_pending() {
                        self.state = State::InLine(queued_for);
                        return Poll::Pending;
                    }
                    self.state = State::Admitted;
                }
            }
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}
