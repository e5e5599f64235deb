//! A test in several processes: "nodes" of a service that share nothing but a server.

use std::env;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::fake_clock::FakeClock;
use crate::fork;
use crate::process::{Process, guarded};
use crate::scratch::Scratch;

/// Where a node reports to; only a node has it.
const PARENT: &str = "RATELIMIT_TEST_NODE";

/// How long a node may take to start, and to answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A second process of the same test. It runs the same test function, which asks at its beginning
/// whether it is a node:
///
/// ```no_run
/// # use test_support::{Link, Node};
/// // #[test]
/// fn two_processes() {
///     if let Some(mut link) = Link::attach() {
///         while let Some(question) = link.recv() {
///             link.send(format!("{question}, I say"));
///         }
///         return;
///     }
///     let mut node = Node::start("two_processes");
///     node.send("hello");
///     assert_eq!(node.recv(), "hello, I say");
/// }
/// ```
#[derive(Debug)]
pub struct Node {
    // Before the scratch: the process ends before its directory goes.
    process: Process,
    link: Link,
    scratch: Scratch,
}

/// A node to start.
#[derive(Debug)]
pub struct NodeBuilder<'a> {
    test: &'a str,
    clock: Option<&'a FakeClock>,
    may_fork: bool,
    env: Vec<(String, String)>,
}

/// Lines between a test and one of its nodes; the node's end of it, or the test's.
#[derive(Debug)]
pub struct Link {
    lines: BufReader<TcpStream>,
}

impl<'a> NodeBuilder<'a> {
    /// Lets the node [`fork`](crate::fork).
    #[must_use]
    pub fn may_fork(mut self) -> Self {
        self.may_fork = true;
        self
    }

    /// Lets the node live by these clocks.
    #[must_use]
    pub fn clock(mut self, clock: &'a FakeClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets a variable of the node's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the process and waits until it has attached.
    pub fn start(self) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let scratch = Scratch::new();
        let output = File::create(scratch.path().join("output")).unwrap();

        let mut command = guarded(&env::current_exe().unwrap());
        command
            .args([self.test, "--exact", "--nocapture", "--test-threads=1"])
            .env(PARENT, listener.local_addr().unwrap().to_string())
            .envs(self.env)
            .stderr(output.try_clone().unwrap())
            .stdout(output);
        if let Some(clock) = self.clock {
            clock.apply(&mut command);
        }
        if self.may_fork {
            fork::allow(&mut command);
        }
        let mut process = Process::start(command).unwrap();

        let deadline = Instant::now() + PATIENCE;
        let stream = loop {
            if let Ok((stream, _)) = listener.accept() {
                break stream;
            }
            if process.ended().is_some() || Instant::now() > deadline {
                let output = output_of(&scratch);
                panic!("no node attached; is the test called `{}`? It wrote:\n{output}", self.test);
            }
            thread::sleep(Duration::from_millis(5));
        };
        stream.set_nonblocking(false).unwrap();
        Node { process, link: Link::over(stream), scratch }
    }
}

impl Node {
    /// A node to start: `test` is the full name of the running test, as `cargo test` shows it.
    pub fn builder(test: &str) -> NodeBuilder<'_> {
        NodeBuilder { test, clock: None, may_fork: false, env: Vec::new() }
    }

    /// Starts a node with nothing special about it.
    pub fn start(test: &str) -> Self {
        Self::builder(test).start()
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Sends a line.
    pub fn send(&mut self, line: impl Display) {
        self.link.send(line);
    }

    /// Waits for a line; fails, with what the node wrote, when it has ended.
    pub fn recv(&mut self) -> String {
        self.link.recv().unwrap_or_else(|| {
            panic!("the node has ended; it wrote:\n{}", output_of(&self.scratch))
        })
    }
}

impl Link {
    /// The link to the test that started this process, if it is a node.
    pub fn attach() -> Option<Self> {
        let parent = env::var(PARENT).ok()?;
        Some(Self::over(TcpStream::connect(parent).unwrap()))
    }

    /// Sends a line.
    pub fn send(&mut self, line: impl Display) {
        // One write: a line never waits for the rest of itself.
        let line = format!("{line}\n");
        self.lines.get_mut().write_all(line.as_bytes()).unwrap();
    }

    /// Waits for a line; `None` when the other side has ended.
    pub fn recv(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches('\n').to_owned()),
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(e) => panic!("no line within {PATIENCE:?}: {e}"),
        }
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { lines: BufReader::new(stream) }
    }
}

fn output_of(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path().join("output")).unwrap_or_default()
}
