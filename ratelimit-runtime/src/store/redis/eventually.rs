//! A value that a task makes and callers wait for: a connection, or the slot map of a cluster.
//!
//! Calls wait for the first attempt only, and only for a moment. From then on they take what is there,
//! or get the reason why there is nothing.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::StoreError;

/// How long calls wait for the first attempt, all of them together: it is nearly always done by then, and
/// a server that is down does not delay one call after the other.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// What callers read.
#[derive(Clone, Debug)]
pub(super) struct Eventually<T>(watch::Receiver<State<T>>);

/// What the task writes.
#[derive(Debug)]
pub(super) struct Publisher<T>(watch::Sender<State<T>>);

#[derive(Clone, Debug)]
enum State<T> {
    /// The first attempt is under way, and callers wait for it.
    Starting,
    /// The first attempt is still under way, and callers get this error.
    Slow(StoreError),
    Ready(T),
    Failed(StoreError),
}

impl<T> Eventually<T> {
    pub(super) fn new() -> (Publisher<T>, Self) {
        let (writer, reader) = watch::channel(State::Starting);
        (Publisher(writer), Self(reader))
    }

    /// Reads the value, if there is one. Waits a moment for the first attempt.
    pub(super) async fn get<R>(&self, read: impl FnOnce(&T) -> R) -> Result<R, StoreError> {
        if let State::Ready(value) = &*self.0.borrow() {
            return Ok(read(value));
        }
        self.when(|state| !matches!(state, State::Starting), read).await
    }

    /// Reads the value, if there is one. Waits for the first attempt, however long it takes.
    pub(super) async fn settled<R>(&self, read: impl FnOnce(&T) -> R) -> Result<R, StoreError> {
        self.when(|state| !matches!(state, State::Starting | State::Slow(_)), read).await
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(*self.0.borrow(), State::Ready(_))
    }

    async fn when<R>(
        &self,
        is_enough: impl FnMut(&State<T>) -> bool,
        read: impl FnOnce(&T) -> R,
    ) -> Result<R, StoreError> {
        let ended = || StoreError::Connection { reason: "connecting has ended".to_owned() };
        let mut state = self.0.clone();
        match &*state.wait_for(is_enough).await.map_err(|_| ended())? {
            State::Ready(value) => Ok(read(value)),
            State::Slow(error) | State::Failed(error) => Err(error.clone()),
            State::Starting => Err(ended()),
        }
    }
}

impl<T> Publisher<T> {
    /// Makes the first attempt. If it takes long, callers get the error `slow` until it is done.
    pub(super) async fn first<A>(&self, attempt: impl Future<Output = A>, slow: StoreError) -> A {
        let mut attempt = pin!(attempt);
        if let Ok(done) = timeout(FIRST_WAIT, attempt.as_mut()).await {
            return done;
        }
        self.0.send_replace(State::Slow(slow));
        attempt.await
    }

    pub(super) fn ready(&self, value: T) {
        self.0.send_replace(State::Ready(value));
    }

    pub(super) fn failed(&self, error: StoreError) {
        self.0.send_replace(State::Failed(error));
    }

    /// For a value of which an old one is better than none.
    pub(super) fn failed_unless_ready(&self, error: StoreError) {
        self.0.send_if_modified(|state| {
            let had_none = !matches!(state, State::Ready(_));
            if had_none {
                *state = State::Failed(error);
            }
            had_none
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Instant;

    use super::*;

    fn error(reason: &str) -> StoreError {
        StoreError::Connection { reason: reason.to_owned() }
    }

    /// In a runtime whose clock moves by itself.
    fn run<T>(test: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(test)
    }

    #[test]
    fn a_first_attempt_that_is_slow_holds_callers_up_once() {
        run(async {
            let (publisher, eventually) = Eventually::<u8>::new();
            let started = tokio::time::Instant::now();
            let attempt = async move { publisher.first(pending::<()>(), error("slow")).await };
            let task = tokio::spawn(attempt);
            for _ in 0..1_000 {
                assert_eq!(eventually.get(|n| *n).await, Err(error("slow")));
            }
            assert_eq!(started.elapsed(), FIRST_WAIT);
            task.abort();
            assert!(!eventually.is_ready());
        });
    }

    #[test]
    fn an_old_value_outlives_a_failure_where_that_is_wanted() {
        run(async {
            let (publisher, eventually) = Eventually::new();
            publisher.failed_unless_ready(error("first"));
            assert_eq!(eventually.settled(|n| *n).await, Err(error("first")));
            publisher.ready(1);
            publisher.failed_unless_ready(error("second"));
            assert_eq!(eventually.get(|n| *n).await, Ok(1));
            publisher.failed(error("third"));
            assert_eq!(eventually.get(|n| *n).await, Err(error("third")));
        });
    }

    #[test]
    fn a_task_that_has_gone_is_not_waited_for() {
        let started = Instant::now();
        let (publisher, eventually) = Eventually::<u8>::new();
        drop(publisher);
        assert_eq!(run(eventually.get(|n| *n)), Err(error("connecting has ended")));
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}
