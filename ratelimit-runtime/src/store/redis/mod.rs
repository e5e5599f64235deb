//! The store that all instances share: Lua scripts in Redis or Valkey.

mod args;
mod cluster;
mod connection;
mod credentials;
mod dial;
mod endpoint;
mod executor;
mod failure;
mod in_order;
mod info;
mod login;
mod naming;
mod node;
mod pauses;
mod place;
mod refusers;
mod reply;
mod script;
mod sentinel;
mod sharded;
mod slot;
mod supervisor;
mod tls;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;

pub use self::credentials::Credentials;
pub(crate) use self::credentials::Provider;
use self::dial::Dial;
use self::executor::Servers;
use self::naming::Names;
pub(crate) use self::naming::Naming;
use self::node::Node;
use self::place::Place;
use self::refusers::Refusers;
use self::script::Questions;
use self::sharded::Sharded;
#[cfg(feature = "tls")]
pub(crate) use self::tls::Pem;
pub(crate) use self::tls::Tls;
use super::{Answers, BoxFuture, Charged, Charges, Store};
use crate::clock::Clock;
use crate::error::{ConfigError, StoreError};
use crate::process::PerProcess;
use crate::rule::Check;

/// Decides in Redis: by one script call, or on a cluster by one for each slot.
pub(crate) struct Redis {
    source: Source,
    /// The child of a fork connects anew: the connections are the parent's.
    servers: PerProcess<Arc<Servers>>,
    naming: Naming,
    clock: Clock,
    /// Of a check.
    deadline: Duration,
    /// Of lists that cross slots.
    refusers: Refusers,
    /// Whether one address stands in front of many slots.
    sharded: Sharded,
}

/// Where the connections come from.
enum Source {
    Url {
        place: Box<Place>,
        dial: Arc<Dial>,
    },
    /// The caller handed one in: there is no other.
    Given,
}

/// How long a connection that was handed in may take to answer that it is ready.
const GIVEN_PATIENCE: Duration = Duration::from_secs(1);

/// How to reach the servers.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub(crate) connect_timeout: Duration,
    /// The deadline of a check.
    pub(crate) deadline: Duration,
    pub(crate) tls: Tls,
    /// Who knows as whom to log in at the servers, and at Sentinels.
    pub(crate) credentials: Option<Provider>,
    pub(crate) sentinel_credentials: Option<Provider>,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the address: it may come with a password.
        f.debug_struct("Redis").field("naming", &self.naming).finish_non_exhaustive()
    }
}

impl Redis {
    /// A store on the servers that a URL names. Connecting starts at once, in the background.
    pub(crate) fn open(
        url: &str,
        reach: Reach,
        naming: Naming,
        clock: Clock,
    ) -> Result<Self, ConfigError> {
        let Reach { connect_timeout, deadline, tls, credentials, sentinel_credentials } = reach;
        let place = Box::new(Place::parse(url)?);
        #[cfg(feature = "tls")]
        if place.is_tls() {
            tls.check()?;
        }
        let grouped = matches!(*place, Place::Cluster { .. });
        let names = Names { naming: &naming, grouped };
        let (questions, probe_key) = (Arc::new(Questions::new(names)), names.probe());
        let sharded = Sharded::default();
        let dial = Arc::new(Dial {
            connect_timeout,
            deadline,
            tls,
            questions,
            probe_key,
            provider: credentials,
            sentinel_provider: sentinel_credentials,
            sharded: sharded.clone(),
        });
        let source = Source::Url { place, dial };
        let servers = PerProcess::new();
        let refusers = Refusers::new();
        let store = Self { source, servers, naming, clock, deadline, refusers, sharded };
        // Connecting starts, and what is wrong with the configuration comes out.
        match store.servers() {
            Err(StoreError::Config(error)) => Err(error),
            Ok(_) | Err(_) => Ok(store),
        }
    }

    /// A store over a connection that the caller drives.
    pub(crate) fn over(
        connection: MultiplexedConnection,
        naming: Naming,
        clock: Clock,
        deadline: Duration,
    ) -> Self {
        let (servers, sharded) = (PerProcess::new(), Sharded::default());
        let questions = Questions::new(Names { naming: &naming, grouped: false });
        let patience = deadline.max(GIVEN_PATIENCE);
        let node = Node::given(connection, questions, patience, sharded.clone());
        let Ok(_) =
            servers.get_or_try_init(|| Ok::<_, Infallible>(Arc::new(Servers::One(Arc::new(node)))));
        let refusers = Refusers::new();
        Self { source: Source::Given, servers, naming, clock, deadline, refusers, sharded }
    }

    /// The servers, as this process reaches them.
    fn servers(&self) -> Result<&Arc<Servers>, StoreError> {
        self.servers.get_or_try_init(|| match &self.source {
            Source::Url { place, dial } => {
                Ok(Arc::new(Servers::start(Place::clone(place), dial.clone())?))
            }
            Source::Given => {
                let reason = "the connection that was handed in stayed in the process that forked";
                Err(StoreError::Connection { reason: reason.to_owned() })
            }
        })
    }

    fn names(&self) -> Names<'_> {
        let is_cluster = matches!(
            &self.source,
            Source::Url { place, .. } if matches!(**place, Place::Cluster { .. })
        );
        let grouped = is_cluster || self.sharded.known() == Some(true);
        Names { naming: &self.naming, grouped }
    }

    /// Finds out whether keys lie in slots, for checks whose names or whose fate depend on it.
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
            // Two keys whose last characters alone differ are never in one slot.
            let probe = self.names().probe();
            return node.probe_sharded(["a", "b"].map(|key| [&probe, key].join(":"))).await;
        }
        // A server in cluster mode says so when it is connected, and others refuse the call.
        node.supervisor().connection().await?;
        Ok(self.sharded.known() == Some(true))
    }

    fn now_us(&self) -> Option<i64> {
        self.clock.sent_ns().map(|ns| ns.div_euclid(1_000))
    }

    /// Decides checks: together, or where keys lie in slots, one slot after the other.
    async fn decided(&self, checks: &[Check<'_>]) -> Result<Decided, StoreError> {
        if self.has_slots(checks).await? {
            return in_order::decide(self, checks).await.map(Decided::InOrder);
        }
        match self.together(checks).await {
            Ok(reply) => Ok(Decided::Together(reply)),
            // It was refused for that, and has not run.
            Err(error) if failure::was_cross_slot(&error) => {
                self.sharded.found();
                in_order::decide(self, checks).await.map(Decided::InOrder)
            }
            Err(error) => Err(error),
        }
    }

    /// What would be decided of checks that lie together.
    async fn look(&self, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
        let request = script::look(self.names(), self.now_us(), checks)?;
        reply::foreseen(&self.servers()?.run(&request).await?, checks)
    }

    /// Decides checks that lie together, by one script call.
    async fn together(&self, checks: &[Check<'_>]) -> Result<redis::Value, StoreError> {
        let request = script::call(self.names(), self.now_us(), checks)?;
        self.servers()?.run(&request).await
    }
}

/// What came of a list of checks.
enum Decided {
    /// The reply of one script.
    Together(redis::Value),
    /// Decided one slot after the other.
    InOrder((Answers, Charges)),
}

impl Store for Redis {
    fn parts_groups(&self) -> bool {
        self.names().grouped
    }

    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            match self.decided(checks).await? {
                Decided::Together(reply) => reply::answers(&reply, checks),
                Decided::InOrder((answers, _)) => Ok(answers),
            }
        })
    }

    fn charge<'a>(
        &'a self,
        checks: &'a [Check<'a>],
    ) -> BoxFuture<'a, Result<(Answers, Charges), StoreError>> {
        Box::pin(async move {
            match self.decided(checks).await? {
                Decided::Together(reply) => {
                    Ok((reply::answers(&reply, checks)?, reply::charges(&reply, checks)?))
                }
                Decided::InOrder(decided) => Ok(decided),
            }
        })
    }

    fn refund(&self, charged: &[Charged<'_>]) {
        let request = |charged: &Charged<'_>| {
            let until = charged.in_line_until(crate::algo::Resolution::Micros);
            let at = charged.at.to_le_bytes();
            script::give_back(self.names(), self.now_us(), &charged.check, at, until).ok()
        };
        // Those of a process that was forked off have charged nothing.
        if let Ok(servers) = self.servers() {
            in_order::undo(servers, charged.iter().filter_map(request));
        }
    }

    fn peek<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            if self.has_slots(checks).await? {
                return in_order::look(self, checks).await;
            }
            match self.look(checks).await {
                Err(error) if failure::was_cross_slot(&error) => {
                    self.sharded.found();
                    in_order::look(self, checks).await
                }
                answers => answers,
            }
        })
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.has_slots(std::slice::from_ref(check)).await?;
            let key = self.names().of(check);
            let mut command = redis::cmd("DEL");
            command.arg(&key);
            let slot = self.names().slot(&key);
            match self.servers()?.ask(slot, command).await? {
                redis::Value::Int(keys) => Ok(keys > 0),
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
