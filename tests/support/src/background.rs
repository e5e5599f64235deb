//! A runtime for what serves beside the test, whether the test has one or not.

use std::future::Future;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a runtime; dropping it ends all that runs there.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(crate) fn start(name: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let work = move || {
            let _ = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work).unwrap();
        Self { handle, stop: Some(stop), thread: Some(thread) }
    }

    /// Runs something short there, waits for it, and so brings an order into what the test does
    /// and what happens there. Unlike the runtime's own way to do so, also from within a runtime.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (send, result) = mpsc::channel();
        self.handle.spawn(async move {
            let _ = send.send(work.await);
        });
        result.recv().expect("what serves beside the test has panicked; see above")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
