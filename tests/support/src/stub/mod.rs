//! A server that says what a test wants it to say.

mod reply;
mod wire;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub use self::reply::Reply;
use crate::door::{Door, lock};
use crate::port::Port;

/// Speaks just enough of the protocol to answer with anything, and remembers what it was asked.
///
/// A handler sees the words of each command. What it leaves to the stub with [`Reply::Usual`]
/// gets a server's usual answer, which is enough to let the clients of the `redis` crate connect.
///
/// ```no_run
/// # use test_support::{Flavor, Reply, Server, Stub};
/// let stub = Stub::start(|words| match words[0].as_slice() {
///     b"EVALSHA" => Reply::error("LOADING Redis is loading the dataset in memory"),
///     _ => Reply::Usual,
/// });
/// // ... with a client of `stub.url()`:
/// assert_eq!(stub.calls("EVALSHA").len(), 1);
/// stub.answer(|_| Reply::Silence); // from now on
/// stub.stop();
/// let real = Server::builder(Flavor::Installed).port(stub.port()).start();
/// ```
#[derive(Debug)]
pub struct Stub {
    door: Door,
    script: Arc<Script>,
}

/// A command that a [`Stub`] was given.
#[derive(Clone, Debug)]
pub struct Call {
    /// What was said.
    pub words: Vec<Vec<u8>>,
    /// When it was read.
    pub at: Instant,
    /// When it was answered, or its connection ended without an answer; until then it is
    /// outstanding.
    pub done: Option<Instant>,
    /// The connection it came in, counted from 0.
    pub connection: usize,
}

type Handler = dyn Fn(&[Vec<u8>]) -> Reply + Send + Sync;

struct Script {
    handler: Mutex<Arc<Handler>>,
    calls: Mutex<Vec<Call>>,
    connections: Mutex<usize>,
}

impl Stub {
    /// A stub on a free port.
    pub fn start(handler: impl Fn(&[Vec<u8>]) -> Reply + Send + Sync + 'static) -> Self {
        Self::new(Port::free(), handler)
    }

    /// A stub on this port, on which something of this crate listened before and does no more.
    pub fn on(port: u16, handler: impl Fn(&[Vec<u8>]) -> Reply + Send + Sync + 'static) -> Self {
        Self::new(Port::take(port), handler)
    }

    fn new(port: Port, handler: impl Fn(&[Vec<u8>]) -> Reply + Send + Sync + 'static) -> Self {
        let script = Script {
            handler: Mutex::new(Arc::new(handler)),
            calls: Mutex::default(),
            connections: Mutex::default(),
        };
        let stub = Self { door: Door::new("stub", port), script: Arc::new(script) };
        stub.listen();
        stub
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.door.port()
    }

    /// Its address for clients: `redis://127.0.0.1:port/`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// Answers commands that are read from now on in another way. Connections that were met with
    /// silence stay silent: [`cut`](Self::cut) them, or let the client do so.
    pub fn answer(&self, handler: impl Fn(&[Vec<u8>]) -> Reply + Send + Sync + 'static) {
        *lock(&self.script.handler) = Arc::new(handler);
    }

    /// Ends all connections.
    pub fn cut(&self) {
        self.door.cut();
    }

    /// Ends all connections and refuses new ones: a server can take over the port.
    pub fn stop(&self) {
        self.door.close();
        self.door.cut();
    }

    /// Listens again, after [`stop`](Self::stop).
    pub fn listen(&self) {
        let script = Arc::clone(&self.script);
        self.door.open(move |stream| talk(stream, Arc::clone(&script)));
    }

    /// When connections were made, from the first on.
    pub fn connections(&self) -> Vec<Instant> {
        self.door.made()
    }

    /// All commands so far, in the order in which they were read.
    pub fn everything(&self) -> Vec<Call> {
        lock(&self.script.calls).clone()
    }

    /// The calls of one command so far.
    pub fn calls(&self, command: &str) -> Vec<Call> {
        let mut calls = self.everything();
        calls.retain(|call| call.words[0].eq_ignore_ascii_case(command.as_bytes()));
        calls
    }
}

impl Call {
    /// The most of these calls that were outstanding at one time.
    pub fn most_outstanding(calls: &[Self]) -> usize {
        let outstanding = |at: Instant| {
            calls.iter().filter(move |call| call.at <= at && call.done.is_none_or(|done| done > at))
        };
        // There are most of them just when one has come.
        calls.iter().map(|call| outstanding(call.at).count()).max().unwrap_or(0)
    }
}

/// Marks what a connection leaves unanswered as over when it ends, however it ends.
struct Goodbye {
    script: Arc<Script>,
    connection: usize,
}

impl Drop for Goodbye {
    fn drop(&mut self) {
        let now = Instant::now();
        for call in &mut *lock(&self.script.calls) {
            if call.connection == self.connection {
                call.done.get_or_insert(now);
            }
        }
    }
}

async fn talk(mut stream: TcpStream, script: Arc<Script>) {
    let connection = {
        let mut connections = lock(&script.connections);
        *connections += 1;
        *connections - 1
    };
    let _goodbye = Goodbye { script: Arc::clone(&script), connection };
    let mut said = Vec::new();
    let mut silent = false;
    loop {
        while let Some(words) = wire::next(&mut said) {
            let call = {
                let mut calls = lock(&script.calls);
                calls.push(Call {
                    words: words.clone(),
                    at: Instant::now(),
                    done: None,
                    connection,
                });
                calls.len() - 1
            };
            if silent {
                continue;
            }
            let handler = Arc::clone(&lock(&script.handler));
            let Some(answer) = handler(&words).bytes(&words) else { return };
            if answer.is_empty() {
                silent = true;
                continue;
            }
            // First: whoever has read the answer finds the call done.
            lock(&script.calls)[call].done = Some(Instant::now());
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
        if stream.read_buf(&mut said).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("calls", &self.calls).finish_non_exhaustive()
    }
}
