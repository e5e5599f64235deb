//! The store that all instances share: Lua scripts in Redis or Valkey.
//!
//! | what | where |
//! | --- | --- |
//! | a URL, and the servers that it names | `url`, `endpoint`, `credentials`, `tls` |
//! | connecting: one attempt, and the task that keeps at it | `dial`, `login`, `info`, `keeper`, `backoff` |
//! | the connection and its circuit breaker | `connection`, `eventually`, `supervisor` |
//! | servers: one, the primary that Sentinels name, a cluster | `node`, `sentinel`, `cluster` |
//! | sending a call, and sending it again | `executor`, `failure` |
//! | checks as commands, and replies as answers | `naming`, `prepared`, `wire`, `command`, `reply`, `session` |
//! | checks of one call in different slots | `sharded`, `slot`, `cross_slot`, `recent_refusals` |

mod backoff;
mod cluster;
mod command;
mod connection;
mod credentials;
mod cross_slot;
mod dial;
mod endpoint;
mod eventually;
mod executor;
mod failure;
mod info;
mod keeper;
mod login;
mod naming;
mod node;
mod prepared;
mod recent_refusals;
mod reply;
mod sentinel;
mod session;
mod sharded;
mod slot;
mod supervisor;
mod tls;
mod url;
mod wire;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use redis::aio::MultiplexedConnection;

use self::command::{ProbeRequests, Request};
pub(crate) use self::credentials::Provider;
pub use self::credentials::RedisCredentials;
use self::dial::Dial;
use self::executor::Servers;
use self::naming::KeyNaming;
pub(crate) use self::naming::KeyPrefix;
use self::node::Node;
use self::prepared::{Prepared, PreparedChecks};
use self::recent_refusals::RecentRefusals;
use self::reply::Reply;
use self::session::Session;
use self::sharded::Sharded;
#[cfg(feature = "tls")]
pub(crate) use self::tls::Pem;
pub(crate) use self::tls::Tls;
use self::url::Topology;
use super::{Answers, BoxFuture, Charged, Charges, Store};
use crate::algo::Resolution;
use crate::clock::Clock;
use crate::error::{ConfigError, StoreError};
use crate::process::PerProcess;
use crate::rule::Check;

/// Decides in Redis: by one script call, or by one for each slot.
pub(crate) struct Redis {
    source: Source,
    /// The child of a fork connects anew: the connections are the parent's.
    servers: PerProcess<Arc<Servers>>,
    prefix: KeyPrefix,
    clock: Clock,
    /// Of a check.
    deadline: Duration,
    refusals: RecentRefusals,
    sharded: Sharded,
}

/// Where the connections come from.
enum Source {
    Url {
        topology: Box<Topology>,
        dial: Arc<Dial>,
    },
    /// The caller handed one in: there is no other.
    Given,
}

/// How long the server of a connection that was handed in may take to say that it is ready.
const GIVEN_READY_TIMEOUT: Duration = Duration::from_secs(1);

/// How servers are reached.
#[derive(Clone, Debug)]
pub(crate) struct ConnectSettings {
    pub(crate) connect_timeout: Duration,
    /// The deadline of a check.
    pub(crate) deadline: Duration,
    pub(crate) tls: Tls,
    /// Has the login at the servers, if that can change.
    pub(crate) credentials: Option<Provider>,
    /// Has the login at Sentinels.
    pub(crate) sentinel_credentials: Option<Provider>,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the address: it may come with a password.
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Redis {
    /// A store on the servers that a URL names. Connecting starts at once, in the background.
    pub(crate) fn open(
        url: &str,
        settings: ConnectSettings,
        prefix: KeyPrefix,
        clock: Clock,
    ) -> Result<Self, ConfigError> {
        let ConnectSettings { connect_timeout, deadline, tls, credentials, sentinel_credentials } =
            settings;
        let topology = Box::new(Topology::parse(url)?);
        #[cfg(feature = "tls")]
        if topology.is_tls() {
            tls.check()?;
        }
        let naming = KeyNaming { prefix: &prefix, has_slots: topology.is_cluster() };
        let sharded = Sharded::default();
        let dial = Arc::new(Dial {
            connect_timeout,
            deadline,
            tls,
            probes: Arc::new(ProbeRequests::new(naming)),
            probe_key: naming.probe(),
            provider: credentials,
            sentinel_provider: sentinel_credentials,
            sharded: sharded.clone(),
        });
        let source = Source::Url { topology, dial };
        let (servers, refusals) = (PerProcess::new(), RecentRefusals::new());
        let store = Self { source, servers, prefix, clock, deadline, refusals, sharded };
        // Connecting starts, and shows what is wrong with the configuration.
        match store.servers() {
            Err(StoreError::Config(error)) => Err(error),
            Ok(_) | Err(_) => Ok(store),
        }
    }

    /// A store over a connection that the caller drives.
    pub(crate) fn over(
        connection: MultiplexedConnection,
        prefix: KeyPrefix,
        clock: Clock,
        deadline: Duration,
    ) -> Self {
        let (servers, sharded) = (PerProcess::new(), Sharded::default());
        let probes = ProbeRequests::new(KeyNaming { prefix: &prefix, has_slots: false });
        let ready_timeout = deadline.max(GIVEN_READY_TIMEOUT);
        let node = Node::given(connection, probes, ready_timeout, sharded.clone());
        let Ok(_) =
            servers.get_or_try_init(|| Ok::<_, Infallible>(Arc::new(Servers::One(Arc::new(node)))));
        let refusals = RecentRefusals::new();
        Self { source: Source::Given, servers, prefix, clock, deadline, refusals, sharded }
    }

    /// The servers, as this process reaches them.
    fn servers(&self) -> Result<&Arc<Servers>, StoreError> {
        self.servers.get_or_try_init(|| match &self.source {
            Source::Url { topology, dial } => {
                Ok(Arc::new(Servers::start(Topology::clone(topology), dial.clone())?))
            }
            Source::Given => {
                let reason = "the connection that was handed in stayed in the process that forked";
                Err(StoreError::Connection { reason: reason.to_owned() })
            }
        })
    }

    fn naming(&self) -> KeyNaming<'_> {
        let is_cluster =
            matches!(&self.source, Source::Url { topology, .. } if topology.is_cluster());
        let has_slots = is_cluster || self.sharded.known() == Some(true);
        KeyNaming { prefix: &self.prefix, has_slots }
    }

    fn session(&self) -> Result<Session<'_>, StoreError> {
        Ok(Session { servers: self.servers()?, naming: self.naming(), clock: &self.clock })
    }

    /// Whether keys lie in slots. Found out for checks whose names or whose fate depend on it; `false` for
    /// others.
    async fn has_slots(&self, checks: &[Check<'_>]) -> Result<bool, StoreError> {
        let Servers::One(node) = &**self.servers()? else { return Ok(true) };
        let is_grouped = checks.iter().any(|check| check.group().is_some());
        if checks.len() < 2 && !is_grouped {
            return Ok(false);
        }
        if let Some(known) = self.sharded.known() {
            return Ok(known);
        }
        if is_grouped {
            // Two keys that differ only in their last character never lie in one slot.
            let probe = self.naming().probe();
            return node.probe_sharded(["a", "b"].map(|key| [&probe, key].join(":"))).await;
        }
        // A server in cluster mode says so while connecting; others refuse the call.
        node.supervisor().connection().await?;
        Ok(self.sharded.known() == Some(true))
    }

    /// Decides checks: together, or if they lie in different slots, one slot after the other.
    async fn decided<'c>(&self, checks: &'c [Check<'c>]) -> Result<Decided<'c>, StoreError> {
        if !self.has_slots(checks).await? {
            let session = self.session()?;
            let prepared = session.prepare(checks)?;
            match session.decide(&prepared).await {
                // The call was refused for that, and nothing has run.
                Err(error) if failure::was_cross_slot(&error) => self.sharded.found(),
                reply => return Ok(Decided::Together(reply?, prepared)),
            }
        }
        let session = self.session()?;
        let prepared = session.prepare(checks)?;
        if cross_slot::is_one_slot(&prepared) {
            return Ok(Decided::Together(session.decide(&prepared).await?, prepared));
        }
        // On the heap, since most calls do not come here: the others need not have room for it.
        let deciding = cross_slot::decide(session, &self.refusals, self.deadline, prepared);
        Box::pin(deciding).await.map(Decided::BySlot)
    }

    /// What would be decided of checks.
    async fn preview(&self, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
        if !self.has_slots(checks).await? {
            let session = self.session()?;
            match session.preview(&session.prepare(checks)?).await {
                Err(error) if failure::was_cross_slot(&error) => self.sharded.found(),
                answers => return answers,
            }
        }
        let session = self.session()?;
        cross_slot::preview(session, &self.refusals, session.prepare(checks)?).await
    }

    /// The request that refunds a charge.
    fn refund_of(&self, charged: &Charged<'_>) -> Option<Request> {
        let session = self.session().ok()?;
        let check = Prepared::new(session.naming, &charged.check).ok()?;
        let queued_until = charged.queued_until(Resolution::Micros);
        Some(command::refund(&check, session.now_us(), charged.at, queued_until))
    }
}

/// How checks were decided.
enum Decided<'c> {
    /// By one script, of which this is the reply.
    Together(Value, PreparedChecks<'c>),
    BySlot((Answers, Charges)),
}

impl Store for Redis {
    fn separates_groups(&self) -> bool {
        self.naming().has_slots
    }

    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            match self.decided(checks).await? {
                Decided::Together(reply, checks) => Reply::parse(&reply, &checks)?.answers(),
                Decided::BySlot((answers, _)) => Ok(answers),
            }
        })
    }

    fn charge<'a>(
        &'a self,
        checks: &'a [Check<'a>],
    ) -> BoxFuture<'a, Result<(Answers, Charges), StoreError>> {
        Box::pin(async move {
            match self.decided(checks).await? {
                Decided::Together(reply, checks) => {
                    let reply = Reply::parse(&reply, &checks)?;
                    Ok((reply.answers()?, reply.charges()))
                }
                Decided::BySlot(decided) => Ok(decided),
            }
        })
    }

    fn refund(&self, charged: &[Charged<'_>]) {
        // A process that was forked off has charged nothing.
        if let Ok(servers) = self.servers() {
            let requests = charged.iter().filter_map(|charged| self.refund_of(charged));
            cross_slot::refund(servers, requests);
        }
    }

    fn peek<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(self.preview(checks))
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.has_slots(std::slice::from_ref(check)).await?;
            let naming = self.naming();
            let key = naming.key(check);
            let mut command = redis::cmd("DEL");
            command.arg(&key);
            match self.servers()?.run(&Request::plain(command, naming.slot(&key))).await? {
                Value::Int(keys) => Ok(keys > 0),
                _ => Err(StoreError::Reply),
            }
        })
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            match &**self.servers()? {
                Servers::One(node) => node.ready().await,
                Servers::Cluster(cluster) => cluster.ready().await,
            }
        })
    }
}
