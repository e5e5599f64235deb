//! What the errors of the Redis client mean to a limiter, and how they are worded.
//!
//! Only codes, kinds and addresses are kept: the message of a server may quote a command, and with it a key.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use redis::{ConnectionAddr, ErrorKind, RedisError, ServerErrorKind, Value};

use crate::error::StoreError;

/// What to do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The script did not run, but soon will: send the call again.
    Wait,
    /// The script did not run, and the server is of no use now: it became a replica, is loading its data, or has
    /// lost its primary. A new connection may lead to its successor.
    Reconnect,
    /// The script did not run, and another server has the key.
    Follow {
        /// For this call only, which must say so: the key is just moving.
        asking: bool,
    },
    /// The connection is of no use. Whether the script ran is not known.
    Drop,
    /// Nothing: the call has failed.
    Fail,
}

pub(super) fn remedy(error: &RedisError) -> Remedy {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::TryAgain | ServerErrorKind::ClusterDown) => Remedy::Wait,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown | ServerErrorKind::ReadOnly,
        ) => Remedy::Reconnect,
        ErrorKind::Server(ServerErrorKind::Moved) => Remedy::Follow { asking: false },
        ErrorKind::Server(ServerErrorKind::Ask) => Remedy::Follow { asking: true },
        ErrorKind::Server(_) | ErrorKind::Extension => Remedy::Fail,
        _ => Remedy::Drop,
    }
}

/// A step of connecting: the command, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetupStep(&'static str, &'static str);

impl SetupStep {
    pub(super) const INFO: Self = Self("INFO", "which server it is");
    pub(super) const PROBE: Self = Self("EVALSHA", "whether it decides");
    pub(super) const UPLOAD: Self = Self("SCRIPT LOAD", "to upload the scripts");
    pub(super) const SLOTS: Self = Self("CLUSTER SLOTS", "which node has which keys");
    pub(super) const PRIMARY: Self =
        Self("SENTINEL GET-MASTER-ADDR-BY-NAME", "which server is the primary");
}

impl fmt::Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(command, purpose) = self;
        write!(f, "{command} ({purpose})")
    }
}

/// Whether a step of connecting may fail like this: the server is there, but does not know the command, or the
/// user must not run it.
pub(super) fn is_tolerable(error: &RedisError) -> bool {
    let is_there = !matches!(remedy(error), Remedy::Drop | Remedy::Reconnect);
    is_there && error.code() != Some("NOAUTH") && known_message(error).is_none()
}

/// Whether the server is not a node of a cluster.
pub(super) fn has_no_cluster(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("cluster support disabled"))
}

/// Whether the server does not know a command.
pub(super) fn is_unknown_command(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.starts_with("unknown "))
}

/// Whether the server does not have a script.
pub(super) fn is_script_missing(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Whether the server does not know a command, or the user must not run it.
pub(super) fn is_refused_command(error: &RedisError) -> bool {
    matches!(error.code(), Some("NOPERM" | "ERR")) && !cannot_compile(error)
}

/// Whether the server is too old for the first line of the scripts.
pub(super) fn cannot_compile(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("ompiling script"))
}

/// Whether the keys of the call lie in different slots. Nothing has run.
pub(super) fn is_cross_slot(error: &RedisError) -> bool {
    error.code() == Some("CROSSSLOT")
}

/// The same for the error that a call ended with.
pub(super) fn was_cross_slot(error: &StoreError) -> bool {
    matches!(error, StoreError::Server { reason } if reason.ends_with(CROSS_SLOT))
}

const CROSS_SLOT: &str = "CROSSSLOT: the keys of a call must lie in one slot";

/// Whether the key has moved to another node, or is just moving.
pub(super) fn is_moving(error: &RedisError) -> bool {
    matches!(remedy(error), Remedy::Follow { .. })
        || error.kind() == ErrorKind::Server(ServerErrorKind::TryAgain)
}

/// The `host:port` that a redirect names.
pub(super) fn redirect_address(error: &RedisError) -> Option<String> {
    error.redirect_node().map(|(address, _)| address.to_owned())
}

/// The error of a call to a server of this name.
pub(super) fn of_call(error: &RedisError, name: &str) -> StoreError {
    match unnamed(error) {
        StoreError::Connection { reason } => {
            StoreError::Connection { reason: format!("{name}: {reason}") }
        }
        StoreError::Permission { reason } => {
            StoreError::Permission { reason: format!("{name}: {reason}") }
        }
        StoreError::Server { reason } => StoreError::Server { reason: format!("{name}: {reason}") },
        error => error,
    }
}

/// The error of a step of connecting to a server of this name. No key is in the command, and so none in the
/// reply.
fn of_step(error: &RedisError, step: SetupStep, name: &str) -> StoreError {
    match (error.kind(), error.code()) {
        _ if known_message(error).is_some() || cannot_compile(error) => of_call(error, name),
        (ErrorKind::Server(_) | ErrorKind::Extension, Some("NOPERM")) => {
            let reason = format!("{name}: NOPERM: the user lacks {step}");
            StoreError::Permission { reason }
        }
        (ErrorKind::Server(_) | ErrorKind::Extension, Some("ERR")) => {
            let reason = format!("{name}: {step}: {}", quote(error));
            StoreError::Server { reason }
        }
        _ => match of_call(error, name) {
            StoreError::Connection { reason } => {
                StoreError::Connection { reason: format!("{reason}: {step}") }
            }
            error => error,
        },
    }
}

/// The message of a server, without the arguments that it quotes.
fn quote(error: &RedisError) -> String {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let quoted = detail.chars().filter(|c| !c.is_control()).take(MAX_QUOTED).collect::<String>();
    format!("ERR {quoted}").trim_end().to_owned()
}

/// How many characters of a server's message are quoted.
const MAX_QUOTED: usize = 120;

/// The error without the name of the server.
fn unnamed(error: &RedisError) -> StoreError {
    let code = error.code().unwrap_or("ERR");
    match error.kind() {
        ErrorKind::AuthenticationFailed => match known_message(error) {
            // Servers with too many clients answer the first command like this, whatever it is.
            Some(message) => StoreError::Server { reason: message.to_owned() },
            None => StoreError::Permission { reason: "the login is refused".to_owned() },
        },
        ErrorKind::Server(_) | ErrorKind::Extension => match code {
            "NOPERM" => StoreError::Permission { reason: format!("NOPERM: {}", denied(error)) },
            "ERR" if is_denied_in_script(error) => StoreError::Permission {
                reason: denied_in_script(error).map_or_else(
                    || DENIED.to_owned(),
                    |command| format!("the user lacks {command}, which the scripts use"),
                ),
            },
            "ERR" if is_denied_database(error) => StoreError::Permission {
                reason: "NOPERM: the user lacks SELECT, for the database of the URL".to_owned(),
            },
            "NOAUTH" => StoreError::Permission { reason: "NOAUTH: a login is needed".to_owned() },
            "WRONGPASS" => {
                StoreError::Permission { reason: "WRONGPASS: the login is refused".to_owned() }
            }
            "OOM" => StoreError::Server { reason: "OOM: its memory is full".to_owned() },
            "NOSCRIPT" => StoreError::Server {
                reason: "NOSCRIPT: it does not keep the scripts that it is given".to_owned(),
            },
            // Only from one node of a cluster that was reached as if it were alone.
            "MOVED" | "ASK" => StoreError::Server {
                reason: format!(
                    "{code}: another node of this cluster has the key; redis+cluster:// reaches all \
                     of them"
                ),
            },
            "CROSSSLOT" => StoreError::Server { reason: CROSS_SLOT.to_owned() },
            "ERR" if cannot_compile(error) => StoreError::Server { reason: TOO_OLD.to_owned() },
            code => StoreError::Server {
                reason: known_message(error)
                    .map_or_else(|| unquoted(error, code).to_owned(), str::to_owned),
            },
        },
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreError::Reply,
        _ => StoreError::Connection { reason: reason(error) },
    }
}

/// What can be said without the server's message, which may quote a key.
fn unquoted<'c>(error: &RedisError, code: &'c str) -> &'c str {
    let is_unknown = || error.detail().is_some_and(|detail| detail.starts_with("unknown command"));
    match code {
        "ERR" if is_unknown() => "ERR unknown command: it needs EVALSHA, and SCRIPT LOAD or EVAL",
        "ERR" => "EVALSHA is answered with ERR",
        code => code,
    }
}

const TOO_OLD: &str = "it cannot compile the scripts: Redis 7.0 or newer is needed";

/// What a user may lack, if the server does not say what.
const DENIED: &str = "the user lacks EVALSHA, SCRIPT LOAD (or EVAL), a command of the scripts or \
                       access to the keys";

/// The commands that the scripts use.
const COMMANDS: [&str; 11] =
    ["TIME", "GET", "SET", "DEL", "PTTL", "PEXPIRE", "LINDEX", "LRANGE", "LSET", "LTRIM", "RPUSH"];

/// The commands in the reply of the script `permissions`: those that the user must not run.
pub(super) fn denied_commands(reply: Value) -> Vec<&'static str> {
    let Value::Array(names) = reply else { return Vec::new() };
    let is_named = |command: &&str| {
        names
            .iter()
            .any(|name| matches!(name, Value::BulkString(name) if name == command.as_bytes()))
    };
    COMMANDS.into_iter().filter(is_named).collect()
}

/// The error of a user who must not run these commands.
pub(super) fn of_denied(commands: &[&str], name: &str) -> StoreError {
    let commands = commands.join(", ");
    StoreError::Permission {
        reason: format!("{name}: NOPERM: the user lacks {commands}, which the scripts use"),
    }
}

/// The command of a script that the user must not run. Old servers do not name it.
fn denied_in_script(error: &RedisError) -> Option<&'static str> {
    let (_, rest) = error.detail()?.split_once("no permissions to run the '")?;
    let (name, _) = rest.split_once('\'')?;
    COMMANDS.into_iter().find(|command| name.eq_ignore_ascii_case(command))
}

/// What the user must not do. The server's own message may have a key in it.
fn denied(error: &RedisError) -> &'static str {
    let says = |words| error.detail().is_some_and(|detail| detail.contains(words));
    if says("'evalsha'") {
        "the user lacks EVALSHA"
    } else if says("'eval'") {
        "the user lacks both SCRIPT LOAD and EVAL, and needs one of them"
    } else if is_about_keys(error) {
        "the user lacks access to the keys"
    } else {
        DENIED
    }
}

/// Whether the user may do the same with other keys.
pub(super) fn is_about_keys(error: &RedisError) -> bool {
    let says = |words| error.detail().is_some_and(|detail| detail.contains(words));
    error.code() == Some("NOPERM") && says("permissions to access")
}

/// Whether the user may run scripts, but not a command that this one uses. Servers have no code for that.
fn is_denied_in_script(error: &RedisError) -> bool {
    // Redis 7.0; later Redis and Valkey.
    ["The user executing the script can't run this command", "ACL failure in script"]
        .iter()
        .any(|message| error.detail().is_some_and(|detail| detail.starts_with(message)))
}

/// Whether the error of a login is about the login.
pub(super) fn is_about_the_login(error: &RedisError) -> bool {
    matches!(error.code(), Some("WRONGPASS" | "ERR")) && known_message(error).is_none()
}

const TOO_MANY_CLIENTS: &str = "max number of clients reached";

/// Whether the user must not select a database. The client loses the code.
fn is_denied_database(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("has no permissions to run the 'select'"))
}

/// A message that users need to see, has no code of its own, and quotes nothing.
fn known_message(error: &RedisError) -> Option<&'static str> {
    let detail = error.detail()?;
    [TOO_MANY_CLIENTS, "DB index is out of range"]
        .into_iter()
        .find(|message| detail.contains(message))
}

/// The error of an attempt to connect, or of one step of it.
pub(super) fn of_connecting(
    error: &RedisError,
    step: Option<SetupStep>,
    to: &ConnectionAddr,
) -> StoreError {
    let name = name(to);
    let error_of = |error| match step {
        Some(step) => of_step(error, step, &name),
        None => of_call(error, &name),
    };
    match error_of(error) {
        StoreError::Connection { .. } if is_closed_by_peer(error) && !is_tls(to) => {
            StoreError::Connection {
                reason: format!("{name} ends the connection: does it speak TLS (rediss://)?"),
            }
        }
        StoreError::Reply => {
            StoreError::Server { reason: format!("{name} does not answer as Redis does") }
        }
        error => error,
    }
}

/// Whether the next attempt to connect would fail in the same way.
pub(super) fn is_lasting(error: &RedisError) -> bool {
    let message = known_message(error);
    match error.kind() {
        _ if cannot_compile(error) => true,
        // Not lasting, although it may look like a refused login.
        _ if message == Some(TOO_MANY_CLIENTS) => false,
        _ if message.is_some() => true,
        ErrorKind::AuthenticationFailed => true,
        ErrorKind::Server(_) | ErrorKind::Extension => {
            is_denied_database(error)
                || matches!(error.code(), Some("NOPERM" | "NOAUTH" | "WRONGPASS"))
        }
        #[cfg(feature = "tls")]
        _ => io_error(error).and_then(tls_error).is_some(),
        #[cfg(not(feature = "tls"))]
        _ => false,
    }
}

/// An address as it is shown in messages.
pub(super) fn name(address: &ConnectionAddr) -> String {
    if is_tls(address) { format!("{address} over TLS") } else { address.to_string() }
}

fn is_tls(address: &ConnectionAddr) -> bool {
    matches!(address, ConnectionAddr::TcpTls { .. })
}

/// Whether the other side has closed the connection.
fn is_closed_by_peer(error: &RedisError) -> bool {
    error.is_connection_dropped() && !error.is_connection_refusal()
}

fn reason(error: &RedisError) -> String {
    if error.is_connection_refusal() {
        return "connection refused".to_owned();
    }
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let io = io_error(error);
    #[cfg(feature = "tls")]
    if let Some(tls) = io.and_then(tls_error) {
        return tls.to_string();
    }
    match io {
        _ if is_closed_by_peer(error) => "the connection was lost".to_owned(),
        // From the operating system, or from looking up a host name.
        Some(io) => io.to_string(),
        None => error.category().to_owned(),
    }
}

fn io_error(error: &RedisError) -> Option<&io::Error> {
    // What the client shows as the source is a pointer to it.
    let source = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    source.downcast_ref()
}

#[cfg(feature = "tls")]
fn tls_error(io: &io::Error) -> Option<&rustls::Error> {
    io.get_ref()?.downcast_ref()
}
