//! Runs a script: by its SHA-1, uploaded when the server does not have it.
//!
//! A call is sent again only when the server's answer proves that the script did not run. After a
//! lost connection or a missed deadline it may have been counted, and counts once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ratelimit_lua::Script;
use redis::{Cmd, Value};
use tokio::sync::Mutex;

use super::failure::{self, Remedy};
use super::supervisor::{Connection, Supervisor};
use crate::error::StoreError;

/// How long to wait for a server that says that it will soon be able to answer.
const PAUSE: Duration = Duration::from_millis(5);

/// The uploads of one script.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    done: AtomicU64,
    /// Held while one is under way: calls that miss the script meanwhile wait for it.
    under_way: Mutex<()>,
}

/// Sends a call of a script until it has run or has failed. The limiter's deadline ends it.
pub(super) async fn run(
    supervisor: &Supervisor,
    script: &Script,
    uploads: &Uploads,
    command: &Cmd,
) -> Result<Value, StoreError> {
    loop {
        let mut connection = supervisor.connection().await?;
        let done = uploads.done.load(Ordering::Acquire);
        let error = match send(supervisor, &mut connection, command).await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match failure::remedy(&error) {
            Remedy::Upload => {
                let _only_one = uploads.under_way.lock().await;
                // Another call may have uploaded it since this one was sent.
                if uploads.done.load(Ordering::Acquire) == done {
                    upload(supervisor, script).await?;
                    uploads.done.fetch_add(1, Ordering::Release);
                }
            }
            Remedy::Wait => crate::driver::sleep(PAUSE).await,
            Remedy::Reconnect => {
                supervisor.lost(&connection);
                crate::driver::sleep(PAUSE).await;
            }
            Remedy::Drop => {
                supervisor.lost(&connection);
                return Err(failure::of_call(&error));
            }
            Remedy::Fail => return Err(failure::of_call(&error)),
        }
    }
}

/// Sends another command, once.
pub(super) async fn ask(supervisor: &Supervisor, command: &Cmd) -> Result<Value, StoreError> {
    let mut connection = supervisor.connection().await?;
    send(supervisor, &mut connection, command).await.map_err(|error| {
        if failure::remedy(&error) == Remedy::Drop {
            supervisor.lost(&connection);
        }
        failure::of_call(&error)
    })
}

async fn upload(supervisor: &Supervisor, script: &Script) -> Result<(), StoreError> {
    let mut command = redis::cmd("SCRIPT");
    command.arg("LOAD").arg(script.source);
    ask(supervisor, &command).await.map(|_| ())
}

async fn send(
    supervisor: &Supervisor,
    connection: &mut Connection,
    command: &Cmd,
) -> redis::RedisResult<Value> {
    let (call, link) = supervisor.call(connection);
    let answer = link.send_packed_command(command).await;
    if answer.as_ref().err().is_none_or(|error| failure::remedy(error) != Remedy::Drop) {
        call.answered();
    }
    // Error replies inside a value are errors too.
    answer.and_then(Value::extract_error)
}
