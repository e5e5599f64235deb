//! [`StoreError`]: why a store did not answer.

use std::time::Duration;

use super::ConfigError;

/// Why a store did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The answer did not come within the deadline.
    #[error("the store did not answer within {deadline:?}")]
    Deadline {
        /// The limiter's deadline.
        deadline: Duration,
    },
    /// There is no connection.
    #[error("the store cannot be reached: {reason}")]
    Connection {
        /// What is known of the reason.
        reason: String,
    },
    /// The user may not run the script, or may not log in.
    #[error("the store refuses permission or authentication: {reason}")]
    Permission {
        /// The code of the server's error, and what it means.
        reason: String,
    },
    /// The server answered with an error.
    #[error("the store cannot be used: {reason}")]
    Server {
        /// The code of the server's error, or what is wrong with the server.
        reason: String,
    },
    /// The server's answer is not one of our scripts'.
    #[error("unexpected reply from the store")]
    Reply,
    /// A check cannot be sent to this store.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl StoreError {
    /// One word for it: `deadline`, `connection`, `permission`, `server`, `reply` or `config`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Deadline { .. } => "deadline",
            Self::Connection { .. } => "connection",
            Self::Permission { .. } => "permission",
            Self::Server { .. } => "server",
            Self::Reply => "reply",
            Self::Config(_) => "config",
        }
    }
}
