//! The store that all instances share: Lua scripts in Redis or Valkey.

mod failure;
mod supervisor;

use std::fmt;

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
        Ok(Self { supervisor: Supervisor::start(url)?, prefix, clock })
    }

    /// A store over a connection that the caller drives.
    pub(crate) fn over(
        connection: redis::aio::MultiplexedConnection,
        prefix: String,
        clock: Clock,
    ) -> Self {
        Self { supervisor: Supervisor::given(connection), prefix, clock }
    }
}

impl Store for Redis {
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        let _ = (checks, self.clock.sent_ns());
        Box::pin(async { Err(StoreError::Reply) })
    }

    fn reset<'a>(&'a self, rule: &'a Rule, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        let _ = (rule, key);
        Box::pin(async { Err(StoreError::Reply) })
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.supervisor.connection().await.map(|_| ()) })
    }
}
