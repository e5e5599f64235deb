//! One server: its connection, and the scripts on it.

use std::sync::Arc;
use std::time::Duration;

use ratelimit_lua::Script;
use redis::aio::MultiplexedConnection as Link;
use redis::{Cmd, Pipeline, RedisError, RedisResult, Value};

use super::command::{ProbeRequests, Request};
use super::connection::Connection;
use super::dial::{self, Dial};
use super::failure::{self, Remedy, SetupStep};
use super::keeper::Target;
use super::sharded::Sharded;
use super::supervisor::Supervisor;
use crate::driver;
use crate::error::{ConfigError, StoreError};

/// How long the reply to an upload is waited for. No call waits for it.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(1);

/// A server.
#[derive(Debug)]
pub(super) struct Node {
    supervisor: Supervisor,
    /// Calls that charge nobody.
    probes: Arc<ProbeRequests>,
    /// How long the server may take to say that it is ready.
    ready_timeout: Duration,
    sharded: Sharded,
}

impl Node {
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        let (probes, sharded) = (dial.probes.clone(), dial.sharded.clone());
        let ready_timeout = dial.connect_timeout;
        Ok(Self { supervisor: Supervisor::start(target, dial)?, probes, ready_timeout, sharded })
    }

    pub(super) fn given(
        link: Link,
        probes: ProbeRequests,
        ready_timeout: Duration,
        sharded: Sharded,
    ) -> Self {
        let (supervisor, probes) = (Supervisor::given(link), Arc::new(probes));
        Self { supervisor, probes, ready_timeout, sharded }
    }

    /// The connection.
    pub(super) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Finds out whether keys lie in slots, by a call with these keys, which lie in different slots, of a script
    /// that does not exist.
    pub(super) async fn probe_sharded(&self, keys: [String; 2]) -> Result<bool, StoreError> {
        let connection = self.supervisor.connection().await?;
        // It may be known since connecting.
        if let Some(known) = self.sharded.known() {
            return Ok(known);
        }
        let mut command = redis::cmd("EVALSHA");
        command.arg("0".repeat(40)).arg(keys.len()).arg(&keys);
        let reply = connection.link().send_packed_command(&command).await;
        match reply.and_then(Value::extract_error) {
            Err(error) if failure::is_cross_slot(&error) => self.sharded.found(),
            Err(error) if failure::remedy(&error) == Remedy::Drop => {
                return Err(failure::of_call(&error, connection.name()));
            }
            Ok(_) | Err(_) => self.sharded.not_found(),
        }
        Ok(self.sharded.known() == Some(true))
    }

    /// Waits for the first attempt to connect, and asks the server whether it would decide.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        self.ready_by(&self.probes, |_| false).await
    }

    /// The same by other probes, and with errors that are tolerated.
    pub(super) async fn ready_by(
        &self,
        probes: &ProbeRequests,
        is_tolerated: impl FnOnce(&RedisError) -> bool,
    ) -> Result<(), StoreError> {
        let mut connection = self.supervisor.connected().await?;
        let mut denied = Vec::new();
        let asking = async {
            if let Supervisor::Given(_) = self.supervisor {
                upload_to_given(&connection).await?;
            }
            // Where the server cannot say that, calls find it out.
            let permissions = self.run(&mut connection, &probes.permissions, false).await;
            denied = permissions.map(failure::denied_commands).unwrap_or_default();
            self.run(&mut connection, &probes.decision, false).await.map(|_| ())
        };
        let Some(asked) = driver::with_deadline(self.ready_timeout, asking).await? else {
            let step = SetupStep::PROBE;
            let reason = format!("{}: {step}: timed out", connection.name());
            return Err(StoreError::Connection { reason });
        };
        if !denied.is_empty() {
            return Err(failure::of_denied(&denied, connection.name()));
        }
        match asked {
            // Which keys the user may touch is for calls to find out.
            Err(error) if failure::is_about_keys(&error) || is_tolerated(&error) => Ok(()),
            Err(error) => Err(failed(&error, &connection)),
            Ok(()) => Ok(()),
        }
    }

    /// Sends a command, once.
    pub(super) async fn send(&self, command: &Cmd) -> Result<Value, StoreError> {
        let mut connection = self.supervisor.connection().await?;
        let reply = self.send_over(&mut connection, command, false).await;
        reply.map_err(|error| failed(&error, &connection))
    }

    /// Sends a request over a connection, and the script that it calls if the server lacks that. `asking`: about
    /// a key that is just moving here.
    pub(super) async fn run(
        &self,
        to: &mut Connection,
        request: &Request,
        asking: bool,
    ) -> RedisResult<Value> {
        let Some(script) = request.script else {
            return self.send_over(to, &request.command, asking).await;
        };
        let seen = to.uploads(script);
        let reply = self.send_over(to, &request.command, asking).await;
        if is_script_missing(&reply) {
            // On the heap, since hardly any call comes here: the others need not have room for it.
            return Box::pin(self.upload_and_retry(to, request, script, asking, seen)).await;
        }
        to.had_script();
        reply
    }

    /// The server lacked the script, so nothing has run. Of all calls that find that, one uploads it; all of them
    /// try again at once, since a server takes the commands of a connection in their order. If that does
    /// not help, or the server takes no uploads, the call carries the script.
    async fn upload_and_retry(
        &self,
        to: &mut Connection,
        request: &Request,
        script: &'static Script,
        asking: bool,
        seen: u32,
    ) -> RedisResult<Value> {
        let is_first = to.claims_upload(script, seen);
        let takes_uploads = to.takes_uploads();
        if is_first && takes_uploads {
            upload(to, script);
        }
        if !is_first || takes_uploads {
            let reply = self.send_over(to, &request.command, asking).await;
            if !is_script_missing(&reply) {
                return reply;
            }
        }
        if to.carries_script() {
            warn_of_no_scripts(to.name().to_owned());
        }
        self.send_over(to, &request.with_source(script), asking).await
    }

    /// Sends a command over a connection, once.
    async fn send_over(
        &self,
        to: &mut Connection,
        command: &Cmd,
        asking: bool,
    ) -> RedisResult<Value> {
        let (call, link) = to.call();
        let reply = if asking {
            let mut both = Pipeline::with_capacity(2);
            both.cmd("ASKING").add_command(command.clone());
            let replies = Box::pin(link.send_packed_commands(&both, 1, 1)).await;
            replies.map(|mut replies| replies.pop().unwrap_or(Value::Nil))
        } else {
            link.send_packed_command(command).await
        };
        let is_lost = reply.as_ref().is_err_and(|error| failure::remedy(error) == Remedy::Drop);
        // The client returns some error replies as values.
        let reply = reply.and_then(Value::extract_error);
        if !is_lost {
            call.replied(reply.is_ok());
        }
        reply
    }
}

/// The error of a command. A connection that is of no use any more is lost with it.
fn failed(error: &RedisError, connection: &Connection) -> StoreError {
    if matches!(failure::remedy(error), Remedy::Drop | Remedy::Reconnect) {
        connection.lose();
    }
    failure::of_call(error, connection.name())
}

fn is_script_missing(reply: &RedisResult<Value>) -> bool {
    reply.as_ref().is_err_and(failure::is_script_missing)
}

fn warn_of_no_scripts(server: String) {
    // Not on this thread: a log may block.
    driver::later(Duration::ZERO, move || {
        tracing::warn!(
            server,
            "the server keeps no scripts: each call carries its script, several kilobytes"
        );
    });
}

/// Uploads a script before anything that is sent over this connection from now on. Nobody waits for the
/// reply, and a caller that leaves does not take the upload away from others.
fn upload(to: &Connection, script: &'static Script) {
    let (mut link, connection) = (to.link(), to.clone());
    driver::start(UPLOAD_TIMEOUT, async move {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(script.source);
        let reply = link.send_packed_command(&command).await.and_then(Value::extract_error);
        if reply.is_err_and(|error| failure::is_refused_command(&error)) {
            connection.refuses_uploads();
        }
    });
}

/// Uploads all scripts over a connection that the caller has made, if that was not done.
async fn upload_to_given(connection: &Connection) -> RedisResult<()> {
    let is_missing = |script: &&'static Script| connection.uploads(script) == 0;
    if ratelimit_lua::ALL.iter().any(is_missing) {
        if !dial::upload_all(&mut connection.link()).await? {
            connection.refuses_uploads();
        }
        for script in ratelimit_lua::ALL {
            connection.claims_upload(script, 0);
        }
    }
    Ok(())
}
