//! What the errors of the Redis client mean to a limiter. Only codes, kinds and addresses are kept:
//! messages of a server may quote a command, and with it a key.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use redis::{ConnectionAddr, ErrorKind, RedisError, ServerErrorKind, Value};

use crate::error::StoreError;

/// What to do about an error reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The server proves that it did not run the script, and will soon: send the call again.
    Wait,
    /// The server is of no use now, and did not run the script: it became a replica, is loading its
    /// data, or has lost its primary. Another connection may lead to its successor.
    Reconnect,
    /// The script did not run, and another server has the key.
    Follow {
        /// For this call only: the key is just moving.
        asking: bool,
    },
    /// The connection is of no use: whether the script ran is not known.
    Drop,
    /// None. The call has failed.
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

/// A question of the limiter's own: the command, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question(&'static str, &'static str);

impl Question {
    pub(super) const INFO: Self = Self("INFO", "which server it is");
    pub(super) const PROBE: Self = Self("EVALSHA", "whether it decides");
    pub(super) const UPLOAD: Self = Self("SCRIPT LOAD", "to bring the scripts");
    pub(super) const SLOTS: Self = Self("CLUSTER SLOTS", "which node has which keys");
    pub(super) const PRIMARY: Self =
        Self("SENTINEL GET-MASTER-ADDR-BY-NAME", "which server is the primary");
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(command, purpose) = self;
        write!(f, "{command} ({purpose})")
    }
}

/// Whether the server is there and can be used, though it does not answer a question for good advice:
/// it does not know the command, or the user lacks it.
pub(super) fn is_no_obstacle(error: &RedisError) -> bool {
    let is_there = !matches!(remedy(error), Remedy::Drop | Remedy::Reconnect);
    is_there && error.code() != Some("NOAUTH") && known_message(error).is_none()
}

/// Whether a server that was asked for its cluster says that it is in none.
pub(super) fn is_alone(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("cluster support disabled"))
}

/// Whether the server does not know a command.
pub(super) fn is_unknown(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.starts_with("unknown "))
}

/// Whether the server does not have a script.
pub(super) fn is_lacking(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Whether the server does not know a command, or the user lacks it.
pub(super) fn is_refusal(error: &RedisError) -> bool {
    matches!(error.code(), Some("NOPERM" | "ERR")) && !cannot_compile(error)
}

/// Whether the server is older than what the scripts begin with.
pub(super) fn cannot_compile(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("ompiling script"))
}

/// Whether the server takes no keys of different slots in one call. Nothing has run.
pub(super) fn is_cross_slot(error: &RedisError) -> bool {
    error.code() == Some("CROSSSLOT")
}

/// Whether an error of a call says so.
pub(super) fn was_cross_slot(error: &StoreError) -> bool {
    matches!(error, StoreError::Server { reason } if reason.ends_with(CROSS_SLOT))
}

const CROSS_SLOT: &str = "CROSSSLOT: it takes keys of one slot only in a call";

/// Whether a node says that the key has moved, or is about to.
pub(super) fn is_moving(error: &RedisError) -> bool {
    matches!(remedy(error), Remedy::Follow { .. })
        || error.kind() == ErrorKind::Server(ServerErrorKind::TryAgain)
}

/// The address to follow to, `host:port`.
pub(super) fn followed(error: &RedisError) -> Option<String> {
    error.redirect_node().map(|(address, _)| address.to_owned())
}

/// The error of a call over a connection to what is called so.
pub(super) fn of_call(error: &RedisError, name: &str) -> StoreError {
    match nameless(error) {
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

/// The error of a question to a server of this name. It has no key in it, and neither has the answer.
pub(super) fn of_question(error: &RedisError, question: Question, name: &str) -> StoreError {
    match (error.kind(), error.code()) {
        _ if known_message(error).is_some() || cannot_compile(error) => of_call(error, name),
        (ErrorKind::Server(_) | ErrorKind::Extension, Some("NOPERM")) => {
            let reason = format!("{name}: NOPERM: the user lacks {question}");
            StoreError::Permission { reason }
        }
        (ErrorKind::Server(_) | ErrorKind::Extension, Some("ERR")) => {
            let reason = format!("{name}: {question}: {}", words(error));
            StoreError::Server { reason }
        }
        _ => match of_call(error, name) {
            StoreError::Connection { reason } => {
                StoreError::Connection { reason: format!("{reason}: {question}") }
            }
            error => error,
        },
    }
}

/// The words of a server, without the arguments that it quotes.
fn words(error: &RedisError) -> String {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let words = detail.chars().filter(|c| !c.is_control()).take(MOST_WORDS).collect::<String>();
    format!("ERR {words}").trim_end().to_owned()
}

/// How many letters of a server are passed on.
const MOST_WORDS: usize = 120;

fn nameless(error: &RedisError) -> StoreError {
    let code = error.code().unwrap_or("ERR");
    match error.kind() {
        ErrorKind::AuthenticationFailed => match known_message(error) {
            // There are servers that answer whatever comes first like this.
            Some(message) => StoreError::Server { reason: message.to_owned() },
            None => StoreError::Permission { reason: "the login is refused".to_owned() },
        },
        ErrorKind::Server(_) | ErrorKind::Extension => match code {
            "NOPERM" => StoreError::Permission { reason: format!("NOPERM: {}", lacking(error)) },
            "ERR" if is_denied_in_script(error) => StoreError::Permission {
                reason: lacking_in_script(error).map_or_else(
                    || LACKING.to_owned(),
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
            // Only when one node was asked as if it were alone.
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
                    .map_or_else(|| without_words(error, code), str::to_owned),
            },
        },
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreError::Reply,
        _ => StoreError::Connection { reason: reason(error) },
    }
}

/// What the server says may quote a key, but for what is known not to.
fn without_words(error: &RedisError, code: &str) -> String {
    let is_unknown = || error.detail().is_some_and(|detail| detail.starts_with("unknown command"));
    match code {
        "ERR" if is_unknown() => "ERR unknown command: it needs EVALSHA, and SCRIPT LOAD or EVAL",
        "ERR" => "EVALSHA is answered with ERR",
        code => code,
    }
    .to_owned()
}

const TOO_OLD: &str = "it cannot compile the scripts: Redis 7.0 or newer is needed";

/// What a user may lack who may not do what a call does.
const LACKING: &str = "the user lacks EVALSHA, SCRIPT LOAD (or EVAL), a command of the scripts or \
                       access to the keys";

/// The commands of the scripts.
const COMMANDS: [&str; 11] =
    ["TIME", "GET", "SET", "DEL", "PTTL", "PEXPIRE", "LINDEX", "LRANGE", "LSET", "LTRIM", "RPUSH"];

/// Those of them that a server names as ones that the user may not run.
pub(super) fn lacking_commands(answer: Value) -> Vec<&'static str> {
    let Value::Array(names) = answer else { return Vec::new() };
    let is_named = |command: &&str| {
        names
            .iter()
            .any(|name| matches!(name, Value::BulkString(name) if name == command.as_bytes()))
    };
    COMMANDS.into_iter().filter(is_named).collect()
}

/// The error that says so.
pub(super) fn of_lacking(commands: &[&str], name: &str) -> StoreError {
    let commands = commands.join(", ");
    StoreError::Permission {
        reason: format!("{name}: NOPERM: the user lacks {commands}, which the scripts use"),
    }
}

/// The command of a script that the server says the user may not run. Old ones do not name it.
fn lacking_in_script(error: &RedisError) -> Option<&'static str> {
    let (_, rest) = error.detail()?.split_once("no permissions to run the '")?;
    let (name, _) = rest.split_once('\'')?;
    COMMANDS.into_iter().find(|command| name.eq_ignore_ascii_case(command))
}

/// The same as far as the server says it. Its own words may have a key in them.
fn lacking(error: &RedisError) -> &'static str {
    let says = |words| error.detail().is_some_and(|detail| detail.contains(words));
    if says("'evalsha'") {
        "the user lacks EVALSHA"
    } else if says("'eval'") {
        "the user lacks both SCRIPT LOAD and EVAL, and needs one of them"
    } else if is_about_keys(error) {
        "the user lacks access to the keys"
    } else {
        LACKING
    }
}

/// Whether the user may do it with other keys.
pub(super) fn is_about_keys(error: &RedisError) -> bool {
    let says = |words| error.detail().is_some_and(|detail| detail.contains(words));
    error.code() == Some("NOPERM") && says("permissions to access")
}

/// Whether the user may run scripts, and not a command of this one. Servers have no code for it.
fn is_denied_in_script(error: &RedisError) -> bool {
    // Redis 7.0; later ones, and Valkey.
    ["The user executing the script can't run this command", "ACL failure in script"]
        .iter()
        .any(|message| error.detail().is_some_and(|detail| detail.starts_with(message)))
}

/// Whether the error reply to a login is about the login.
pub(super) fn is_about_the_login(error: &RedisError) -> bool {
    matches!(error.code(), Some("WRONGPASS" | "ERR")) && known_message(error).is_none()
}

const TOO_MANY_CLIENTS: &str = "max number of clients reached";

/// Whether the user may not choose a database. The client loses the code.
fn is_denied_database(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("has no permissions to run the 'select'"))
}

/// The messages without a code of their own that a user needs to see, and that never quote anything.
fn known_message(error: &RedisError) -> Option<&'static str> {
    let detail = error.detail()?;
    [TOO_MANY_CLIENTS, "DB index is out of range"]
        .into_iter()
        .find(|message| detail.contains(message))
}

/// The error of an attempt to connect.
pub(super) fn while_connecting(
    error: &RedisError,
    question: Option<Question>,
    to: &ConnectionAddr,
) -> StoreError {
    let name = name(to);
    let error_of = |error| match question {
        Some(question) => of_question(error, question, &name),
        None => of_call(error, &name),
    };
    match error_of(error) {
        StoreError::Connection { .. } if is_cut(error) && !is_tls(to) => StoreError::Connection {
            reason: format!("{name} ends the connection: does it speak TLS (rediss://)?"),
        },
        StoreError::Reply => {
            StoreError::Server { reason: format!("{name} does not answer as Redis does") }
        }
        error => error,
    }
}

/// Whether an attempt to connect that failed so fails in the same way a second later.
pub(super) fn is_lasting(error: &RedisError) -> bool {
    let message = known_message(error);
    match error.kind() {
        _ if cannot_compile(error) => true,
        // Whoever has too many clients says so in place of the answer to a login.
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

/// What to call an address in a message.
pub(super) fn name(address: &ConnectionAddr) -> String {
    if is_tls(address) { format!("{address} over TLS") } else { address.to_string() }
}

fn is_tls(address: &ConnectionAddr) -> bool {
    matches!(address, ConnectionAddr::TcpTls { .. })
}

/// Whether the other side ended the connection.
fn is_cut(error: &RedisError) -> bool {
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
        _ if is_cut(error) => "the connection was lost".to_owned(),
        // Those of the operating system, and of looking up a name.
        Some(io) => io.to_string(),
        None => error.category().to_owned(),
    }
}

fn io_error(error: &RedisError) -> Option<&io::Error> {
    // The client shows the pointer that it holds, and not what that points to.
    let source = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    source.downcast_ref()
}

#[cfg(feature = "tls")]
fn tls_error(io: &io::Error) -> Option<&rustls::Error> {
    io.get_ref()?.downcast_ref()
}
