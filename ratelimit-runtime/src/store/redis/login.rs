//! Logs in.
//!
//! The Redis client does that too, but takes any error for a refused login, even one that says that the
//! server has too many clients. A refused login is not tried again soon, so it matters which it is.

use redis::aio::MultiplexedConnection as Link;
use redis::{ErrorKind, Pipeline, RedisConnectionInfo, RedisError, RedisResult};

use super::failure;

/// For the Redis client: it must not log in.
pub(super) fn none() -> RedisConnectionInfo {
    RedisConnectionInfo::default().set_skip_set_lib_name()
}

/// Logs in, and selects the database.
pub(super) async fn log_in(link: &mut Link, login: &RedisConnectionInfo) -> RedisResult<()> {
    let mut both = Pipeline::with_capacity(2);
    if let Some(password) = login.password() {
        both.cmd("AUTH").arg(login.username()).arg(password);
    }
    let logins = both.len();
    if login.db() != 0 {
        both.cmd("SELECT").arg(login.db());
    }
    if both.is_empty() {
        return Ok(());
    }
    let replies = link.send_packed_commands(&both, 0, both.len()).await?;
    for (index, reply) in replies.into_iter().enumerate() {
        let is_login = index < logins;
        reply.extract_error().map_err(|error| if is_login { refused(error) } else { error })?;
    }
    Ok(())
}

/// The error of a refused login, unless it is about something else.
fn refused(error: RedisError) -> RedisError {
    if failure::is_about_the_login(&error) {
        return (ErrorKind::AuthenticationFailed, "the login is refused").into();
    }
    error
}
