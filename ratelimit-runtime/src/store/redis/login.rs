//! Logs in.
//!
//! The Redis client does that too, but whatever the server says is a refused login to it, also that
//! it has too many clients: and a login that is refused is not tried again soon.

use redis::aio::MultiplexedConnection as Link;
use redis::{ErrorKind, Pipeline, RedisConnectionInfo, RedisError, RedisResult};

use super::failure;

/// What the client is to say when it connects: nothing.
pub(super) fn without() -> RedisConnectionInfo {
    RedisConnectionInfo::default().set_skip_set_lib_name()
}

/// Says who one is, and which database is meant.
pub(super) async fn log_in(link: &mut Link, login: &RedisConnectionInfo) -> RedisResult<()> {
    let mut both = Pipeline::with_capacity(2);
    if let Some(password) = login.password() {
        both.cmd("AUTH").arg(login.username()).arg(password);
    }
    let is_known = both.len();
    if login.db() != 0 {
        both.cmd("SELECT").arg(login.db());
    }
    if both.is_empty() {
        return Ok(());
    }
    let answers = link.send_packed_commands(&both, 0, both.len()).await?;
    for (place, answer) in answers.into_iter().enumerate() {
        let is_login = place < is_known;
        answer.extract_error().map_err(|error| if is_login { refused(error) } else { error })?;
    }
    Ok(())
}

/// A login that is refused, unless it is something else that the server refuses.
fn refused(error: RedisError) -> RedisError {
    if failure::is_about_the_login(&error) {
        return (ErrorKind::AuthenticationFailed, "the login is refused").into();
    }
    error
}
