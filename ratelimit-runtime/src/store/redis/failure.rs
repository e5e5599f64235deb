//! What the errors of the Redis client mean to a limiter. Only codes, kinds and addresses are kept:
//! messages of a server may quote a command, and with it a key.

use std::error::Error;
use std::io;
use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::error::StoreError;

/// What to do about an error reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The script is not on the server: upload it, and send the call again.
    Upload,
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
        ErrorKind::Server(ServerErrorKind::NoScript) => Remedy::Upload,
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

/// The address to follow to, `host:port`.
pub(super) fn followed(error: &RedisError) -> Option<String> {
    error.redirect_node().map(|(address, _)| address.to_owned())
}

/// The error of a call.
pub(super) fn of_call(error: &RedisError) -> StoreError {
    let code = error.code().unwrap_or("ERR");
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoPerm) | ErrorKind::AuthenticationFailed => {
            StoreError::Permission { reason: code.to_owned() }
        }
        ErrorKind::Server(_) | ErrorKind::Extension => match code {
            "NOAUTH" | "WRONGPASS" => StoreError::Permission { reason: code.to_owned() },
            "ERR" if is_forbidden_in_a_script(error) => {
                StoreError::Permission { reason: "NOPERM in a script".to_owned() }
            }
            // Only when a server was asked as if it were alone.
            "MOVED" | "ASK" | "CROSSSLOT" => StoreError::Server {
                reason: format!("{code}: this is a cluster, reached by redis+cluster://"),
            },
            code => StoreError::Server { reason: code.to_owned() },
        },
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreError::Reply,
        _ => StoreError::Connection { reason: reason(error) },
    }
}

/// Whether a script stopped because the user may not run one of its commands: an error without a code
/// of its own, in the words of newer servers or of Redis 7.0.
fn is_forbidden_in_a_script(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| {
        detail.starts_with("ACL failure in script")
            || detail.starts_with("The user executing the script can't")
    })
}

/// The error of an attempt to connect.
pub(super) fn while_connecting(error: &RedisError, address: &str) -> StoreError {
    match of_call(error) {
        StoreError::Connection { reason } => {
            StoreError::Connection { reason: format!("{address}: {reason}") }
        }
        StoreError::Permission { reason } => {
            StoreError::Permission { reason: format!("{address}: {reason}") }
        }
        StoreError::Server { reason } => {
            StoreError::Server { reason: format!("{reason} from {address}") }
        }
        error => error,
    }
}

fn reason(error: &RedisError) -> String {
    if error.is_connection_refusal() {
        "connection refused".to_owned()
    } else if error.is_timeout() {
        "timed out".to_owned()
    } else if let Some(io) = io(error) {
        of_tls(io).unwrap_or_else(|| io.kind().to_string())
    } else if error.is_connection_dropped() {
        "the connection was lost".to_owned()
    } else {
        error.category().to_owned()
    }
}

fn io(error: &RedisError) -> Option<&io::Error> {
    // The client shares its causes between the calls that they concern.
    let shared = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    shared.downcast_ref()
}

/// What TLS says about a certificate, or about the other side: nobody's secret.
#[cfg(feature = "tls")]
fn of_tls(error: &io::Error) -> Option<String> {
    let tls = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(format!("TLS: {tls}"))
}

#[cfg(not(feature = "tls"))]
const fn of_tls(_error: &io::Error) -> Option<String> {
    None
}
