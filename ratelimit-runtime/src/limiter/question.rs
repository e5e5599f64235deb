//! A question to the store whose caller may leave before the answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use crate::driver;

/// Whether somebody still waits for the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller(Arc<AtomicBool>);

impl Caller {
    /// From now on the question runs on the limiter's own thread, which all calls share: nothing of the
    /// application's may run there, no hook, no recorder of metrics and no subscriber of the log.
    pub(crate) fn has_left(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// There is no output where the caller has left.
type Asking<T> = Pin<Box<dyn Future<Output = Option<T>> + Send>>;

/// Asks the store. Dropped before the answer, nobody knows what was charged: so the question is finished on
/// the limiter's own thread, and refunds that.
#[must_use = "futures do nothing until they are awaited"]
pub(crate) struct Question<T: Send + 'static> {
    /// Nothing is left of it after its end, or when it has panicked: that is not finished for anybody.
    asking: Option<Asking<T>>,
    caller: Caller,
    /// In which process it has begun, if it has.
    process: Option<u32>,
}

impl<T: Send + 'static> Question<T> {
    pub(crate) fn new<F>(ask: impl FnOnce(Caller) -> F) -> Self
    where
        F: Future<Output = Option<T>> + Send + 'static,
    {
        let caller = Caller::default();
        Self { asking: Some(Box::pin(ask(caller.clone()))), caller, process: None }
    }
}

impl<T: Send + 'static> Future for Question<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(mut asking) = self.asking.take() else { return Poll::Pending };
        match asking.as_mut().poll(context) {
            Poll::Ready(Some(output)) => Poll::Ready(output),
            // Only who has left gets none.
            Poll::Ready(None) => Poll::Pending,
            Poll::Pending => {
                self.process = Some(std::process::id());
                self.asking = Some(asking);
                Poll::Pending
            }
        }
    }
}

impl<T: Send + 'static> Drop for Question<T> {
    fn drop(&mut self) {
        if let Some(asking) = self.asking.take()
            && self.process == Some(std::process::id())
        {
            self.caller.0.store(true, Ordering::Release);
            driver::finish(asking);
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Question<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex;
    use std::task::Waker;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::limiter::Limiter;
    use crate::rule::{Algorithm, Check, Rule};
    use crate::store::late::Late;

    /// Admits nobody.
    static CLOSED: Rule =
        Rule::new("closed", Algorithm::FixedWindow { limit: 0, window: Duration::from_hours(1) });

    #[test]
    fn who_has_left_is_not_reported_on_the_limiters_own_thread() {
        let (store, reported) = (Late::new(), Arc::new(Mutex::new(0)));
        for stays in [true, false] {
            let hook = reported.clone();
            let limiter = Limiter::builder().store(store.clone()).deadline(Duration::from_mins(1));
            let limiter = limiter.on_event(move |_| *hook.lock().unwrap() += 1).build().unwrap();
            let ask = |caller| async move {
                let checks = [Check::new(&CLOSED, "key")].into_iter().collect();
                limiter.enter(checks, false, &caller).await
            };
            let mut question = Box::pin(Question::new(ask));
            let mut context = Context::from_waker(Waker::noop());
            assert!(question.as_mut().poll(&mut context).is_pending());
            if stays {
                store.answer();
                assert!(pin!(&mut question).poll(&mut context).is_ready());
            }
            drop(question);
            if !stays {
                store.answer();
            }
            // Until nobody has the limiter, and so its hook, any more.
            let begun = Instant::now();
            while Arc::strong_count(&reported) > 1 {
                assert!(begun.elapsed() < Duration::from_secs(30), "it is not finished");
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(*reported.lock().unwrap(), 1, "stays: {stays}");
        }
    }
}
