//! One server: its connection, and which scripts it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ratelimit_lua::Script;
use redis::{Cmd, Pipeline, RedisResult, Value};
use tokio::sync::Mutex;

use super::dial::Dial;
use super::failure::{self, Remedy};
use super::slot::Slot;
use super::supervisor::{Connection, Supervisor, Target};
use crate::error::{ConfigError, StoreError};

/// A server.
#[derive(Debug)]
pub(super) struct Node {
    supervisor: Supervisor,
    /// One for each of [`ratelimit_lua::ALL`].
    uploads: [Uploads; ratelimit_lua::ALL.len()],
}

/// The uploads of one script.
#[derive(Debug, Default)]
struct Uploads {
    done: AtomicU64,
    /// Held while one is under way: calls that miss the script meanwhile wait for it.
    under_way: Mutex<()>,
}

/// A call of a script that may have to be sent several times.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) script: &'static Script,
    pub(super) command: Cmd,
    /// That of all its keys.
    pub(super) slot: Slot,
}

impl Node {
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        Ok(Self::new(Supervisor::start(target, dial)?))
    }

    pub(super) fn given(link: redis::aio::MultiplexedConnection) -> Self {
        Self::new(Supervisor::given(link))
    }

    fn new(supervisor: Supervisor) -> Self {
        Self { supervisor, uploads: Default::default() }
    }

    /// The connection.
    pub(super) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// How many uploads of a script are done.
    pub(super) fn uploaded(&self, script: &Script) -> u64 {
        self.uploads_of(script).map_or(0, |uploads| uploads.done.load(Ordering::Acquire))
    }

    /// Uploads a script, unless that was done since there were so many uploads.
    pub(super) async fn upload(&self, script: &Script, seen: u64) -> Result<(), StoreError> {
        let uploads = self.uploads_of(script).ok_or(StoreError::Reply)?;
        let _only_one = uploads.under_way.lock().await;
        // Another call may have uploaded it since this one was sent.
        if uploads.done.load(Ordering::Acquire) == seen {
            let mut command = redis::cmd("SCRIPT");
            command.arg("LOAD").arg(script.source);
            self.ask(&command).await?;
            uploads.done.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    fn uploads_of(&self, script: &Script) -> Option<&Uploads> {
        let place = ratelimit_lua::ALL.iter().position(|known| known.sha1 == script.sha1);
        place.and_then(|place| self.uploads.get(place))
    }

    /// Sends a command, once.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, StoreError> {
        let mut connection = self.supervisor.connection().await?;
        self.send(&mut connection, command).await.map_err(|error| {
            if failure::remedy(&error) == Remedy::Drop {
                self.supervisor.lost(&connection);
            }
            failure::of_call(&error, connection.name())
        })
    }

    pub(super) async fn send(&self, to: &mut Connection, command: &Cmd) -> RedisResult<Value> {
        let (call, link) = self.supervisor.call(to);
        let answer = link.send_packed_command(command).await;
        if !is_lost(&answer) {
            call.answered(answer.is_ok());
        }
        // Error replies inside a value are errors too.
        answer.and_then(Value::extract_error)
    }

    /// Sends a command about a key that is just moving here.
    pub(super) async fn send_asking(
        &self,
        to: &mut Connection,
        command: &Cmd,
    ) -> RedisResult<Value> {
        let (call, link) = self.supervisor.call(to);
        let mut both = Pipeline::with_capacity(2);
        both.cmd("ASKING").add_command(command.clone());
        let answers = link.send_packed_commands(&both, 1, 1).await;
        if !is_lost(&answers) {
            call.answered(answers.is_ok());
        }
        let answer = answers?.pop().unwrap_or(Value::Nil);
        answer.extract_error()
    }
}

/// Whether the connection failed, and not the command.
fn is_lost<T>(answer: &RedisResult<T>) -> bool {
    answer.as_ref().err().is_some_and(|error| failure::remedy(error) == Remedy::Drop)
}
