//! A primary, a replica, and three that watch over them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::flavor::Flavor;
use crate::login::Login;
use crate::server::{Server, ServerBuilder};
use crate::wait::until_ok;

/// What the sentinels call the primary.
const NAME: &str = "primary";

/// How many of them must agree that the primary is down.
const QUORUM: usize = 2;

/// How long a failover may take until the sentinel is told again.
const RETELL: Duration = Duration::from_secs(5);

/// One primary, one replica and three sentinels, on free ports; all end when this is dropped.
///
/// Server 0 is the primary at first, and server 1 its replica. Servers and sentinels are each a
/// [`Server`]: they can be killed, started again and frozen. What comes of that takes some
/// seconds; [`settle`](Self::settle) waits for it. A server that is started again is what it was at
/// the beginning, until the sentinels tell it otherwise.
///
/// ```no_run
/// # use test_support::{Flavor, Sentinels};
/// let mut sentinels = Sentinels::start(Flavor::Installed);
/// sentinels.failover(); // in good order
/// assert_eq!(sentinels.primary(), 1);
/// sentinels.server(1).kill(); // and this is none
/// sentinels.settle();
/// assert_eq!(sentinels.primary(), 0);
/// ```
#[derive(Debug)]
pub struct Sentinels {
    servers: Vec<Server>,
    sentinels: Vec<Server>,
}

/// What to start with sentinels.
#[derive(Clone, Debug)]
pub struct SentinelsBuilder {
    server: ServerBuilder,
    flavor: Flavor,
    server_login: Option<Login>,
    sentinel_login: Option<Login>,
}

impl SentinelsBuilder {
    /// Adds one option of both servers, as [`ServerBuilder::option`] does.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.server = self.server.option(name, value);
        self
    }

    /// Lets nobody use the servers who is not this user; `default` needs no name to log in.
    #[must_use]
    pub fn server_login(mut self, user: &str, password: &str) -> Self {
        self.server_login = Some(Login::new(user, password));
        self.server = self.server.login(user, password);
        self
    }

    /// Lets nobody use the sentinels who is not this user; `default` needs no name to log in.
    #[must_use]
    pub fn sentinel_login(mut self, user: &str, password: &str) -> Self {
        self.sentinel_login = Some(Login::new(user, password));
        self
    }

    /// Starts them and waits until all know each other.
    pub fn start(self) -> Sentinels {
        let server = self.server.clone().option("repl-diskless-sync-delay", "0");
        let primary = server.clone().start();
        let port = primary.port().to_string();
        let replica = server.line(["replicaof", "127.0.0.1", &port].map(str::to_owned)).start();
        let configuration = self.configuration(&port);
        let sentinel = Server::builder(self.flavor).sentinel(&configuration);
        let sentinel = match &self.sentinel_login {
            Some(login) => sentinel.known_as(login.clone()),
            None => sentinel,
        };
        let sentinels = (0..3).map(|_| sentinel.clone().start()).collect();
        let all = Sentinels { servers: vec![primary, replica], sentinels };
        all.settle();
        all
    }

    fn configuration(&self, port: &str) -> String {
        let mut lines = vec![
            format!("sentinel monitor {NAME} 127.0.0.1 {port} {QUORUM}"),
            format!("sentinel down-after-milliseconds {NAME} 1000"),
            format!("sentinel failover-timeout {NAME} 10000"),
        ];
        if let Some(Login { user, password }) = &self.server_login {
            lines.push(format!("sentinel auth-user {NAME} {user}"));
            lines.push(format!("sentinel auth-pass {NAME} {password}"));
        }
        if let Some(login) = &self.sentinel_login {
            lines.extend(login.lines().iter().map(|words| words.join(" ")));
            lines.push(format!("sentinel sentinel-user {}", login.user));
            lines.push(format!("sentinel sentinel-pass {}", login.password));
        }
        lines.join("\n")
    }
}

impl Sentinels {
    /// What to start; add to it, then [`start`](SentinelsBuilder::start).
    pub fn builder(flavor: Flavor) -> SentinelsBuilder {
        let server = Server::builder(flavor);
        SentinelsBuilder { server, flavor, server_login: None, sentinel_login: None }
    }

    /// Sentinels and servers that ask for no password.
    pub fn start(flavor: Flavor) -> Self {
        Self::builder(flavor).start()
    }

    /// What the sentinels call the primary.
    pub fn name(&self) -> &str {
        NAME
    }

    /// The addresses of the sentinels for clients, with their login, if any.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(Server::url).collect()
    }

    /// The address of the primary of the moment: `redis+sentinel://host:port,host:port/name`, with
    /// the logins, if any.
    pub fn url(&self) -> String {
        let sentinels: Vec<String> = self
            .sentinels
            .iter()
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port()))
            .collect();
        self.url_at(&sentinels.join(","), NAME)
    }

    /// The same for a name at other places.
    pub fn url_at(&self, places: &str, name: &str) -> String {
        let login = self.servers[0].login().map(Login::credentials).unwrap_or_default();
        let own = self.sentinels[0].login().map(Login::sentinel_query).unwrap_or_default();
        format!("redis+sentinel://{login}{places}/{name}{own}")
    }

    /// The two servers.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// One of the servers, to kill it or to start it again.
    pub fn server(&mut self, server: usize) -> &mut Server {
        &mut self.servers[server]
    }

    /// The three sentinels.
    pub fn sentinels(&self) -> &[Server] {
        &self.sentinels
    }

    /// One of the sentinels, to kill it or to start it again.
    pub fn sentinel(&mut self, sentinel: usize) -> &mut Server {
        &mut self.sentinels[sentinel]
    }

    /// Which server the sentinels say is the primary.
    pub fn primary(&self) -> usize {
        self.announced_by(self.speaker())
    }

    /// Tells the sentinels to make the replica the primary, and waits until all of them announce
    /// it. The old primary is told about ten seconds later, and takes writes until then;
    /// [`settle`](Self::settle) waits for that too.
    pub fn failover(&self) {
        let old = self.primary();
        let tell = || self.speaker().try_command::<()>(&["SENTINEL", "FAILOVER", NAME]);
        // A sentinel that has done one just now waits a while.
        let told = until_ok(tell);
        told.unwrap_or_else(|e| panic!("the sentinels do not fail over: {e}"));
        let mut last_told = Instant::now();
        let announced = until_ok(|| {
            let new = |sentinel| self.announced_by(sentinel) != old;
            if self.running().all(new) {
                return Ok(());
            }
            if !new(self.speaker()) && last_told.elapsed() > RETELL {
                // It may have given up: on a busy machine the others voted too late. While it goes
                // on, this is refused.
                let _ = tell();
                last_told = Instant::now();
            }
            Err("it is not announced by all")
        });
        announced.unwrap_or_else(|why| panic!("the failover does not end: {why}"));
    }

    /// Waits until the sentinels that run name the same primary, which is one and runs, and the
    /// other server, if it runs, is its replica and has what it has.
    pub fn settle(&self) {
        if let Err(why) = until_ok(|| self.settled()) {
            panic!("the sentinels do not come to rest: {why}");
        }
    }

    fn settled(&self) -> Result<(), String> {
        let primary = self.primary();
        for sentinel in self.running() {
            let known: HashMap<String, String> = sentinel.command(&["SENTINEL", "MASTER", NAME]);
            let wanted = [
                ("port", self.servers[primary].port().to_string()),
                ("flags", "master".to_owned()),
                ("num-slaves", "1".to_owned()),
                ("num-other-sentinels", "2".to_owned()),
            ];
            if let Some((field, _)) = wanted.iter().find(|(field, value)| known[*field] != *value) {
                return Err(format!("a sentinel says {field} {}", known[*field]));
            }
        }
        let [primary, other] = [primary, 1 - primary].map(|server| &self.servers[server]);
        // Whoever becomes a replica ends all connections, ours too.
        let is = |server: &Server, field: &str, value: &str| {
            server.try_info(field).is_ok_and(|told| told == value)
        };
        if !primary.runs() || !is(primary, "role", "master") {
            return Err("the primary is none".to_owned());
        }
        let port = primary.port().to_string();
        let follows = || {
            is(other, "role", "slave")
                && is(other, "master_port", &port)
                && is(other, "master_link_status", "up")
        };
        if other.runs() && !follows() {
            return Err("the other server is no replica".to_owned());
        }
        Ok(())
    }

    fn announced_by(&self, sentinel: &Server) -> usize {
        let (_, port): (String, u16) =
            sentinel.command(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]);
        let server = self.servers.iter().position(|server| server.port() == port);
        server.unwrap_or_else(|| panic!("port {port} is no server's"))
    }

    fn running(&self) -> impl Iterator<Item = &Server> {
        self.sentinels.iter().filter(|sentinel| sentinel.runs())
    }

    fn speaker(&self) -> &Server {
        self.running().next().expect("no sentinel runs")
    }
}
