//! A port that can be opened and closed, with whoever came in through it.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::background::Background;
use crate::port::Port;

/// Accepts connections, each served by a task of its own.
#[derive(Debug)]
pub(crate) struct Door {
    // Before the port: whoever listens ends before the port is let go.
    background: Background,
    port: Port,
    tasks: Arc<Mutex<Tasks>>,
}

#[derive(Debug, Default)]
struct Tasks {
    accepting: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    connections: Vec<JoinHandle<()>>,
    made: Vec<Instant>,
}

impl Door {
    /// Closed, for now.
    pub(crate) fn new(name: &str, port: Port) -> Self {
        Self { background: Background::start(name), port, tasks: Arc::default() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.number()
    }

    /// Opens it; `serve` is run for each connection.
    pub(crate) fn open<F>(&self, serve: impl Fn(TcpStream) -> F + Send + Sync + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = self.port.listen().unwrap_or_else(|e| panic!("port {}: {e}", self.port()));
        let tasks = Arc::clone(&self.tasks);
        self.background.run(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            let (stop, stopped) = oneshot::channel();
            let accepting = tokio::spawn(accept(listener, stopped, Arc::clone(&tasks), serve));
            lock(&tasks).accepting = Some((stop, accepting));
        });
    }

    /// Closes it: connections are refused from now on; those that were made go on.
    pub(crate) fn close(&self) {
        let Some((stop, accepting)) = lock(&self.tasks).accepting.take() else { return };
        drop(stop);
        self.background.run(async move { accepting.await.unwrap() });
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        let tasks = Arc::clone(&self.tasks);
        self.background.run(async move {
            let connections = std::mem::take(&mut lock(&tasks).connections);
            for connection in connections {
                connection.abort();
                // What it holds is closed afterwards.
                let _ = connection.await;
            }
        });
    }

    /// When connections were made, from the first on.
    pub(crate) fn made(&self) -> Vec<Instant> {
        lock(&self.tasks).made.clone()
    }
}

/// Accepts until it is told to stop, and then those that were made by then.
async fn accept<F>(
    listener: TcpListener,
    mut stop: oneshot::Receiver<()>,
    tasks: Arc<Mutex<Tasks>>,
    serve: impl Fn(TcpStream) -> F + Sync,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let welcome = |stream: TcpStream| {
        stream.set_nodelay(true).unwrap();
        let mut tasks = lock(&tasks);
        tasks.made.push(Instant::now());
        tasks.connections.retain(|task| !task.is_finished());
        tasks.connections.push(tokio::spawn(serve(stream)));
    };
    loop {
        tokio::select! {
            accepted = listener.accept() => welcome(accepted.unwrap().0),
            _ = &mut stop => break,
        }
    }
    // The kernel made them, and would reset them.
    let listener = listener.into_std().unwrap();
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nonblocking(true).unwrap();
        welcome(TcpStream::from_std(stream).unwrap());
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
