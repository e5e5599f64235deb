//! A server of its own for a test, or one that the tests of a binary share.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::flavor::Flavor;
use crate::login::{self, Login};
use crate::port::Port;
use crate::process::{Process, guarded};
use crate::scratch::Scratch;
use crate::tls::Tls;
use crate::wait::{PATIENCE, until};

/// The configuration file of a sentinel.
const SENTINEL: &str = "sentinel.conf";

/// A real server on a free port of the loopback interface and on a unix socket. It keeps nothing
/// on disk unless told, and ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    // Before what it uses.
    process: Option<Process>,
    options: ServerBuilder,
    scratch: Scratch,
    port: Port,
    tls_port: Option<Port>,
    frozen: AtomicBool,
}

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct ServerBuilder {
    flavor: Flavor,
    port: Option<u16>,
    args: Vec<String>,
    /// How we log in.
    login: Option<Login>,
    /// The configuration of a sentinel.
    sentinel: Option<String>,
    tls: Option<Tls>,
}

impl ServerBuilder {
    /// Adds one option of the server: `option("appendonly", "yes")`. The last one of a name counts.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.args.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// Listens on this port, on which something of this crate listened before and does no more:
    /// a [`Stub`](crate::Stub), a server that was killed. Any free port otherwise.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Lets nobody in who is not this user; `default` needs no name to log in. It may do
    /// everything: [`Server::url`] has it, and replicas with the same login use it.
    #[must_use]
    pub fn login(mut self, user: &str, password: &str) -> Self {
        let login = Login::new(user, password);
        for line in login.lines() {
            self = self.line(line);
        }
        self.option("masteruser", user).option("masterauth", password).known_as(login)
    }

    /// Adds a user with rules such as `~rate:* +evalsha`; [`Server::url_of`] is its address.
    #[must_use]
    pub fn user(self, name: &str, password: &str, rules: &str) -> Self {
        self.line(login::user(name, password, rules))
    }

    /// Lets it speak TLS too, on a port of its own: [`Server::tls_url`]. Clients need no
    /// certificate.
    #[must_use]
    pub fn tls(mut self, tls: &Tls) -> Self {
        for (name, file) in tls.options() {
            self = self.option(name, file.to_str().unwrap());
        }
        self.tls = Some(tls.clone());
        self.option("tls-auth-clients", "no")
    }

    /// Makes it a sentinel with this configuration.
    pub(crate) fn sentinel(mut self, configuration: &str) -> Self {
        self.sentinel = Some(configuration.to_owned());
        self
    }

    /// Says how we log in.
    pub(crate) fn known_as(mut self, login: Login) -> Self {
        self.login = Some(login);
        self
    }

    /// One line of a configuration, in words.
    pub(crate) fn line(mut self, words: impl IntoIterator<Item = String>) -> Self {
        let mut words = words.into_iter();
        self.args.extend(words.next().map(|name| format!("--{name}")));
        self.args.extend(words);
        self
    }

    /// Starts it and waits until it answers.
    pub fn start(self) -> Server {
        let port = self.port.map_or_else(Port::free, Port::take);
        let tls_port = self.tls.as_ref().map(|_| Port::free());
        let scratch = Scratch::new();
        if let Some(configuration) = &self.sentinel {
            // Its own from now on: it writes there what it learns.
            fs::write(scratch.path().join(SENTINEL), configuration).unwrap();
        }
        let mut server = Server {
            process: None,
            options: self,
            scratch,
            port,
            tls_port,
            frozen: AtomicBool::new(false),
        };
        server.start_again();
        server
    }
}

impl Server {
    /// What to start; add options, then [`start`](ServerBuilder::start).
    pub fn builder(flavor: Flavor) -> ServerBuilder {
        ServerBuilder {
            flavor,
            port: None,
            args: Vec::new(),
            login: None,
            sentinel: None,
            tls: None,
        }
    }

    /// A server for one test alone.
    pub fn start(flavor: Flavor) -> Self {
        Self::builder(flavor).start()
    }

    /// The server that all tests of this binary share: use [`unique`](crate::unique) names, and
    /// leave its settings alone.
    pub fn shared(flavor: Flavor) -> &'static Self {
        static SHARED: [OnceLock<Server>; Flavor::ALL.len()] =
            [const { OnceLock::new() }; Flavor::ALL.len()];
        SHARED[flavor as usize].get_or_init(|| Self::start(flavor))
    }

    /// Which server it is.
    pub fn flavor(&self) -> Flavor {
        self.options.flavor
    }

    /// Its address for clients: `redis://127.0.0.1:port/`, with the login, if any.
    pub fn url(&self) -> String {
        format!("redis://{}127.0.0.1:{}/", self.credentials(), self.port())
    }

    /// Its address for one user.
    pub fn url_of(&self, user: &str, password: &str) -> String {
        let credentials = Login::new(user, password).credentials();
        format!("redis://{credentials}127.0.0.1:{}/", self.port())
    }

    /// Its address for clients that speak TLS: `rediss://localhost:port/`, with the login, if any.
    pub fn tls_url(&self) -> String {
        format!("rediss://{}localhost:{}/", self.credentials(), self.tls_port())
    }

    /// Its port for TLS.
    pub fn tls_port(&self) -> u16 {
        self.tls_port.as_ref().expect("the server was not told to speak TLS").number()
    }

    /// Its address as a unix socket: `redis+unix:///path`, with the login, if any.
    pub fn unix_url(&self) -> String {
        let query = self.login().map(Login::query).unwrap_or_default();
        format!("redis+unix://{}{query}", self.socket().display())
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().expect("the server was stopped").id()
    }

    /// A connection of one's own, apart from the product's.
    pub fn connect(&self) -> redis::Connection {
        redis::Client::open(self.url()).unwrap().get_connection_with_timeout(PATIENCE).unwrap()
    }

    /// Sends one command in words, as one would type it, over a connection of its own; for many
    /// commands [`connect`](Self::connect) once.
    ///
    /// ```no_run
    /// # use test_support::{Flavor, Server};
    /// let server = Server::start(Flavor::Installed);
    /// let keys: Vec<String> = server.command(&["KEYS", "*"]);
    /// ```
    pub fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_command(words).unwrap_or_else(|e| panic!("{words:?}: {e}"))
    }

    /// As [`command`](Self::command), for commands that may be refused.
    pub fn try_command<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command.query(&mut self.connect())
    }

    /// Forgets all keys, at once.
    pub fn flush(&self) {
        self.command::<()>(&["FLUSHALL", "SYNC"]);
    }

    /// One field of `INFO`, such as `redis_version`.
    pub fn info(&self, field: &str) -> String {
        self.try_info(field).unwrap_or_else(|e| panic!("INFO: {e}"))
    }

    /// As [`info`](Self::info), while the server may end connections.
    pub(crate) fn try_info(&self, field: &str) -> redis::RedisResult<String> {
        let info: String = self.try_command(&["INFO", "everything"])?;
        let prefix = format!("{field}:");
        let value = info.lines().find_map(|line| line.strip_prefix(&prefix));
        Ok(value.unwrap_or_else(|| panic!("INFO has no {field}")).to_owned())
    }

    /// The server's own clock, since the Unix epoch.
    pub fn time(&self) -> Duration {
        let (seconds, micros): (u64, u32) = self.command(&["TIME"]);
        Duration::new(seconds, micros * 1000)
    }

    /// The calls of one command so far, from `INFO commandstats`; 0 when there was none.
    pub fn calls(&self, command: &str) -> u64 {
        let info: String = self.command(&["INFO", "commandstats"]);
        let prefix = format!("cmdstat_{}:calls=", command.to_lowercase());
        let line = info.lines().find_map(|line| line.strip_prefix(&prefix));
        line.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap())
    }

    /// Kills it as a power cut would; the port is free afterwards.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Ends it in good order: what it is told to keep is on disk afterwards.
    pub fn shut_down(&mut self) {
        let mut process = self.process.take().expect("the server was stopped");
        process.signal("TERM");
        until(|| process.ended().is_some());
    }

    /// Starts it again, on the same port and with the same directory.
    pub fn start_again(&mut self) {
        assert!(self.process.is_none(), "the server still runs");
        if let Err(why) = self.launch() {
            panic!("{why}");
        }
    }

    /// Stops it in its tracks: it accepts connections (the kernel does) and answers nothing.
    pub fn freeze(&self) {
        self.process.as_ref().expect("the server was stopped").signal("STOP");
        self.frozen.store(true, Ordering::SeqCst);
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.process.as_ref().expect("the server was stopped").signal("CONT");
        self.frozen.store(false, Ordering::SeqCst);
    }

    /// Whether it was neither stopped nor frozen.
    pub(crate) fn runs(&self) -> bool {
        self.process.is_some() && !self.frozen.load(Ordering::SeqCst)
    }

    /// How we log in.
    pub(crate) fn login(&self) -> Option<&Login> {
        self.options.login.as_ref()
    }

    fn credentials(&self) -> String {
        self.login().map(Login::credentials).unwrap_or_default()
    }

    fn socket(&self) -> PathBuf {
        self.scratch.path().join("socket")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.scratch.path().join("log")).unwrap_or_default()
    }

    /// Starts the process and waits until it answers.
    fn launch(&mut self) -> Result<(), String> {
        let dir = self.scratch.path();
        let mut command = guarded(&self.options.flavor.program());
        if self.options.sentinel.is_some() {
            command.arg(dir.join(SENTINEL)).arg("--sentinel");
        }
        command
            .args(["--port", &self.port().to_string(), "--bind", "127.0.0.1"])
            .args(["--protected-mode", "no", "--enable-debug-command", "local"])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .arg("--unixsocket")
            .arg(self.socket())
            .arg("--dir")
            .arg(dir)
            .arg("--logfile")
            .arg(dir.join("log"))
            .args(&self.options.args);
        if let Some(port) = &self.tls_port {
            command.args(["--tls-port", &port.number().to_string()]);
        }
        let flavor = self.options.flavor;
        let mut process =
            Process::start(command).map_err(|e| format!("cannot start {flavor}: {e}"))?;
        let answers = until(|| process.ended().is_some() || self.answers());
        if !answers || process.ended().is_some() {
            return Err(format!("{flavor} did not start; its log:\n{}", self.log()));
        }
        self.process = Some(process);
        self.frozen.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Whether *this* server answers: over its own socket, so nobody else's port is mistaken for it.
    fn answers(&self) -> bool {
        let connect = || redis::Client::open(self.unix_url())?.get_connection();
        let ping = |mut connection| redis::cmd("PING").query::<String>(&mut connection);
        connect().and_then(ping).is_ok()
    }
}
