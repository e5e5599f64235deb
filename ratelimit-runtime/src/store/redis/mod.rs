//! The store that all instances share: Lua scripts in Redis or Valkey.

mod args;
mod executor;
mod failure;
mod reply;
mod script;
mod supervisor;

use std::fmt;

use ratelimit_lua::Script;
use redis::{Cmd, Value};

use self::executor::Uploads;
use self::supervisor::Supervisor;
use super::{Answers, BoxFuture, Store};
use crate::clock::Clock;
use crate::error::{ConfigError, StoreError};
use crate::key::Key;
use crate::rule::{Check, Rule};

/// Decides in Redis, by one script call.
pub struct Redis {
    supervisor: Supervisor,
    prefix: String,
    clock: Clock,
    /// One for each of [`ratelimit_lua::ALL`].
    uploads: [Uploads; ratelimit_lua::ALL.len()],
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the address: it may come with a password.
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Redis {
    /// A store on the server that a URL names. Connecting starts at once, in the background.
    pub(crate) fn open(url: &str, prefix: String, clock: Clock) -> Result<Self, ConfigError> {
        Ok(Self { supervisor: Supervisor::start(url)?, prefix, clock, uploads: Default::default() })
    }

    /// A store over a connection that the caller drives.
    pub(crate) fn over(
        connection: redis::aio::MultiplexedConnection,
        prefix: String,
        clock: Clock,
    ) -> Self {
        Self {
            supervisor: Supervisor::given(connection),
            prefix,
            clock,
            uploads: Default::default(),
        }
    }
}

impl Redis {
    async fn run(&self, script: &Script, command: &Cmd) -> Result<Value, StoreError> {
        let place = ratelimit_lua::ALL.iter().position(|known| known.sha1 == script.sha1);
        let uploads = place.and_then(|place| self.uploads.get(place)).ok_or(StoreError::Reply)?;
        executor::run(&self.supervisor, script, uploads, command).await
    }

    fn now_us(&self) -> Option<i64> {
        self.clock.sent_ns().map(|ns| ns.div_euclid(1_000))
    }
}

impl Store for Redis {
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            let (script, command) = script::call(&self.prefix, self.now_us(), checks)?;
            reply::answers(&self.run(script, &command).await?, checks)
        })
    }

    fn reset<'a>(&'a self, rule: &'a Rule, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut command = redis::cmd("DEL");
            command.arg(script::state_key(&self.prefix, rule, key));
            executor::ask(&self.supervisor, &command).await.map(|_| ())
        })
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.supervisor.connection().await.map(|_| ()) })
    }
}
