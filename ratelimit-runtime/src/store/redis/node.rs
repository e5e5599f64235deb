//! One server: its connection, and the scripts on it.

use std::sync::Arc;
use std::time::Duration;

use ratelimit_lua::Script;
use redis::aio::MultiplexedConnection as Link;
use redis::{Arg, Cmd, Pipeline, RedisError, RedisResult, Value};

use super::connection::Connection;
use super::dial::{self, Dial};
use super::failure::{self, Question, Remedy};
use super::script::Questions;
use super::sharded::Sharded;
use super::slot::Slot;
use super::supervisor::{Supervisor, Target};
use crate::driver;
use crate::error::{ConfigError, StoreError};

/// How long the answer to an upload is waited for, of which no call needs to know.
const UPLOAD_PATIENCE: Duration = Duration::from_secs(1);

/// A server.
#[derive(Debug)]
pub(super) struct Node {
    supervisor: Supervisor,
    /// Calls that touch nobody's budget.
    questions: Arc<Questions>,
    /// How long the server may take to answer that it is ready.
    patience: Duration,
    sharded: Sharded,
}

/// A call of a script that may have to be sent several times.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) script: &'static Script,
    pub(super) command: Cmd,
    /// That of all its keys.
    pub(super) slot: Slot,
}

impl Request {
    /// The same call with the text of its script, for a server that lacks it.
    fn by_source(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(self.script.source);
        // What comes after `EVALSHA` and the digest is the same.
        for argument in self.command.args_iter().skip(2) {
            if let Arg::Simple(argument) = argument {
                command.arg(argument);
            }
        }
        command
    }
}

impl Node {
    pub(super) fn start(target: Target, dial: Arc<Dial>) -> Result<Self, ConfigError> {
        let (questions, patience) = (dial.questions.clone(), dial.connect_timeout);
        let sharded = dial.sharded.clone();
        Ok(Self { supervisor: Supervisor::start(target, dial)?, questions, patience, sharded })
    }

    pub(super) fn given(
        link: Link,
        questions: Questions,
        patience: Duration,
        sharded: Sharded,
    ) -> Self {
        let (supervisor, questions) = (Supervisor::given(link), Arc::new(questions));
        Self { supervisor, questions, patience, sharded }
    }

    /// Finds out whether it takes keys of one slot only in a call, by a call of a script that nobody
    /// has, with these keys of different slots.
    pub(super) async fn probe_sharded(&self, keys: [String; 2]) -> Result<bool, StoreError> {
        let connection = self.supervisor.connection().await?;
        // Connecting may have found it out.
        if let Some(known) = self.sharded.known() {
            return Ok(known);
        }
        let mut command = redis::cmd("EVALSHA");
        command.arg("0".repeat(40)).arg(keys.len()).arg(&keys);
        let answer = connection.link().send_packed_command(&command).await;
        match answer.and_then(Value::extract_error) {
            Err(error) if failure::is_cross_slot(&error) => self.sharded.found(),
            Err(error) if failure::remedy(&error) == Remedy::Drop => {
                return Err(failure::of_call(&error, connection.name()));
            }
            Ok(_) | Err(_) => self.sharded.not_found(),
        }
        Ok(self.sharded.known() == Some(true))
    }

    /// The connection.
    pub(super) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Waits for the end of the first attempt to connect, and asks the server whether it would decide.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        self.ready_for(&self.questions, |_| false).await
    }

    /// The same by these questions, and with some answers more that say as much.
    pub(super) async fn ready_for(
        &self,
        questions: &Questions,
        forgives: impl FnOnce(&RedisError) -> bool,
    ) -> Result<(), StoreError> {
        let mut connection = self.supervisor.connected().await?;
        let mut lacking = Vec::new();
        let asking = async {
            if let Supervisor::Given(_) = self.supervisor {
                upload_to_given(&connection).await?;
            }
            // Where that cannot be said, calls find it out.
            let permissions = self.run(&mut connection, &questions.permissions, false).await;
            lacking = permissions.map(failure::lacking_commands).unwrap_or_default();
            self.run(&mut connection, &questions.probe, false).await.map(|_| ())
        };
        let Some(asked) = driver::with_deadline(self.patience, asking).await? else {
            let question = Question::PROBE;
            let reason = format!("{}: {question}: timed out", connection.name());
            return Err(StoreError::Connection { reason });
        };
        if !lacking.is_empty() {
            return Err(failure::of_lacking(&lacking, connection.name()));
        }
        match asked {
            // Which keys it may use is for calls to find out.
            Err(error) if failure::is_about_keys(&error) || forgives(&error) => Ok(()),
            Err(error) => Err(failed(&error, &connection)),
            Ok(()) => Ok(()),
        }
    }

    /// Sends a command, once.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, StoreError> {
        let mut connection = self.supervisor.connection().await?;
        let answer = self.send(&mut connection, command, false).await;
        answer.map_err(|error| failed(&error, &connection))
    }

    /// Runs a script over a connection; `asking`, about a key that is just moving here.
    pub(super) async fn run(
        &self,
        to: &mut Connection,
        request: &Request,
        asking: bool,
    ) -> RedisResult<Value> {
        let seen = to.brought(request.script);
        let answer = self.send(to, &request.command, asking).await;
        if is_lacking(&answer) {
            // What hardly a call needs takes no room in all of them.
            return Box::pin(self.bring(to, request, asking, seen)).await;
        }
        to.has_kept();
        answer
    }

    /// Runs a script that the server lacked. Of calls that find that one sends it, in the same moment as
    /// its second try, and the others try again at once: the server takes in order what comes over a
    /// connection. A call is sent again only because the script did not run.
    async fn bring(
        &self,
        to: &mut Connection,
        request: &Request,
        asking: bool,
        seen: u32,
    ) -> RedisResult<Value> {
        let is_first = to.is_first_to_bring(request.script, seen);
        let uploads = to.takes_uploads();
        if is_first && uploads {
            upload(to, request.script);
        }
        if !is_first || uploads {
            let answer = self.send(to, &request.command, asking).await;
            if !is_lacking(&answer) {
                return answer;
            }
        }
        if to.sends_along() {
            log_kept_none(to.name().to_owned());
        }
        self.send(to, &request.by_source(), asking).await
    }

    /// Sends a command; `asking`, about a key that is just moving here.
    async fn send(&self, to: &mut Connection, command: &Cmd, asking: bool) -> RedisResult<Value> {
        let (call, link) = to.call();
        let answer = if asking {
            let mut both = Pipeline::with_capacity(2);
            both.cmd("ASKING").add_command(command.clone());
            let answers = Box::pin(link.send_packed_commands(&both, 1, 1)).await;
            answers.map(|mut answers| answers.pop().unwrap_or(Value::Nil))
        } else {
            link.send_packed_command(command).await
        };
        let is_lost = answer.as_ref().is_err_and(|error| failure::remedy(error) == Remedy::Drop);
        // Error replies inside a value are errors too.
        let answer = answer.and_then(Value::extract_error);
        if !is_lost {
            call.answered(answer.is_ok());
        }
        answer
    }
}

/// The error of a call; a connection that is of no use is lost with it.
fn failed(error: &RedisError, connection: &Connection) -> StoreError {
    if matches!(failure::remedy(error), Remedy::Drop | Remedy::Reconnect) {
        connection.lose();
    }
    failure::of_call(error, connection.name())
}

fn is_lacking(answer: &RedisResult<Value>) -> bool {
    answer.as_ref().is_err_and(failure::is_lacking)
}

fn log_kept_none(server: String) {
    // Not on this thread: a log may block.
    driver::later(Duration::ZERO, move || {
        tracing::warn!(
            server,
            "the server keeps no scripts: they are sent along with each call, several kilobytes each"
        );
    });
}

/// Uploads a script ahead of whatever is sent over this connection from now on. Nobody waits for it,
/// and who leaves does not take it away from others.
fn upload(to: &Connection, script: &'static Script) {
    let (mut link, connection) = (to.link(), to.clone());
    driver::start(UPLOAD_PATIENCE, async move {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(script.source);
        let answer = link.send_packed_command(&command).await.and_then(Value::extract_error);
        if answer.is_err_and(|error| failure::is_refusal(&error)) {
            connection.refuses_uploads();
        }
    });
}

/// Uploads all scripts over a connection that the caller has made, if that was not done.
async fn upload_to_given(connection: &Connection) -> RedisResult<()> {
    let is_missing = |script: &&'static Script| connection.brought(script) == 0;
    if ratelimit_lua::ALL.iter().any(is_missing) {
        if !dial::upload(&mut connection.link()).await? {
            connection.refuses_uploads();
        }
        for script in ratelimit_lua::ALL {
            connection.is_first_to_bring(script, 0);
        }
    }
    Ok(())
}
