//! The thread that belongs to the limiters of this process.
//!
//! Timers, and the connections to Redis, live on it. So they outlive any runtime that calls, they
//! work without one, and a thread that waits for them in a blocking call cannot keep them from
//! making progress.
//!
//! The child of a fork has a thread of its own, from its first use on.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
#[cfg(feature = "redis")]
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};

use crate::error::{ConfigError, StoreError};
use crate::process::PerProcess;

thread_local! {
    static IS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// The thread's runtime, started at the first use.
pub(crate) fn handle() -> Result<&'static Handle, ConfigError> {
    static DRIVER: PerProcess<Handle> = PerProcess::new();
    DRIVER.get_or_try_init(|| {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|_| ConfigError::Thread)?;
        let handle = runtime.handle().clone();
        thread::Builder::new()
            .name("ratelimit".to_owned())
            .spawn(move || {
                IS_HERE.set(true);
                runtime.block_on(std::future::pending::<()>());
            })
            .map_err(|_| ConfigError::Thread)?;
        Ok(handle)
    })
}

/// The most futures that are finished for callers who have gone. More are dropped as they are.
const MOST_LEFT: usize = 4_096;

/// Finishes a future here whose caller has gone.
pub(crate) fn finish<T>(future: Pin<Box<dyn Future<Output = T> + Send>>)
where
    T: Send + 'static,
{
    static LEFT: AtomicUsize = AtomicUsize::new(0);

    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            LEFT.fetch_sub(1, Ordering::Relaxed);
        }
    }

    let before = LEFT.fetch_add(1, Ordering::Relaxed);
    let counted = Counted;
    if before < MOST_LEFT
        && let Ok(driver) = handle()
    {
        driver.spawn(async move {
            drop(future.await);
            drop(counted);
        });
    }
}

/// Fails on the driver's own thread, on which a blocking call would wait for itself for ever. A
/// recorder of metrics may make one, and a waker that runs its task at once.
pub(crate) fn is_elsewhere() -> Result<(), StoreError> {
    if IS_HERE.get() { Err(unreachable("called from the limiter's own thread")) } else { Ok(()) }
}

fn unreachable(reason: &str) -> StoreError {
    StoreError::Connection { reason: reason.to_owned() }
}

/// Waits for a future, but no longer than the deadline; `None` if that passed.
pub(crate) async fn with_deadline<F: Future>(
    deadline: Duration,
    future: F,
) -> Result<Option<F::Output>, StoreError> {
    let mut future = pin!(future);
    let mut timer = pin!(timer(deadline)?);
    Ok(poll_fn(|context| {
        // The answer first: one that has arrived is never thrown away for a deadline.
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        timer.as_mut().poll(context).map(|()| None)
    })
    .await)
}

/// Sleeps in any runtime, or in none.
pub(crate) async fn sleep(span: Duration) {
    if let Ok(timer) = timer(span) {
        timer.await;
    }
}

/// Does something later, on a thread that may be blocked: what logs may have to wait. Where the
/// operating system gives no thread, nothing is done.
pub(crate) fn later(span: Duration, work: impl FnOnce() + Send + 'static) -> bool {
    let Ok(handle) = handle() else { return false };
    handle.spawn(async move {
        tokio::time::sleep(span).await;
        tokio::task::spawn_blocking(work);
    });
    true
}

/// Polls a future once at once, so that what it sends has its place in the queue, and leaves the rest to
/// the driver, for so long at the most.
#[cfg(feature = "redis")]
pub(crate) fn start(most: Duration, future: impl Future<Output = ()> + Send + 'static) {
    // The destructor of a thread-local value may come too late to be in any context.
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        return;
    }
    let Ok(handle) = handle() else { return };
    let mut future = Box::pin(future);
    let first = {
        // Timers of its own belong to a runtime that does not end.
        let _context = handle.enter();
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    };
    if first.is_pending() {
        handle.spawn(async move { tokio::time::timeout(most, future).await });
    }
}

fn timer(span: Duration) -> Result<tokio::time::Sleep, StoreError> {
    // The destructor of a thread-local value may come too late to be in any context.
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        return Err(unreachable("called from a thread that has nearly ended"));
    }
    // The timer belongs to the runtime in whose context it is made.
    let _context = handle()?.enter();
    Ok(tokio::time::sleep(span))
}

/// Waits for a future on the calling thread, inside an asynchronous runtime or outside.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    // Inside a task, tokio would make its channels pause after some number of polls until the task
    // yields, which a blocked thread never does.
    pollster::block_on(tokio::task::unconstrained(future))
}
