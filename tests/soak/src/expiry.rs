//! Whether every key has an expiry, looked at all the time on all servers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use redis::{Client, Connection, RedisResult};

/// How often servers are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Servers that are frozen or gone are passed over.
const PATIENCE: Duration = Duration::from_millis(300);

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// Servers that told how many of their keys have an expiry.
    pub(crate) answered: u64,
    /// Servers that did not answer.
    pub(crate) unanswered: u64,
    /// Keys at the last look that found the most of them.
    pub(crate) keys: u64,
    /// Keys without an expiry, some of them by name.
    pub(crate) without: Vec<String>,
}

/// Looks until it is told to stop, and once more then.
pub(crate) fn watch(servers: &[String], stop: &AtomicBool) -> Looks {
    let mut looks = Looks::default();
    loop {
        // Before the look: the last one is when nothing happens any more.
        let is_last = stop.load(Ordering::Relaxed);
        for server in servers {
            match look(server) {
                Ok((keys, without)) => {
                    looks.answered += 1;
                    looks.keys = looks.keys.max(keys);
                    looks.without.extend(without);
                }
                Err(error) if is_last => panic!("{server} does not answer in the end: {error}"),
                Err(_) => looks.unanswered += 1,
            }
        }
        if is_last {
            return looks;
        }
        thread::sleep(EVERY);
    }
}

/// How many keys a server has, and one of those without expiry, if there are any.
fn look(server: &str) -> RedisResult<(u64, Option<String>)> {
    let mut connection = Client::open(server)?.get_connection_with_timeout(PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let keyspace: String = redis::cmd("INFO").arg("keyspace").query(&mut connection)?;
    let (keys, expiring) = count(&keyspace);
    let without = if keys == expiring { None } else { Some(name(&mut connection)?) };
    Ok((keys, without))
}

/// Keys, and keys with an expiry, of a line such as `db0:keys=3,expires=2,avg_ttl=0`: one answer of
/// the server counts both, so none can slip through between two questions.
fn count(keyspace: &str) -> (u64, u64) {
    let field = |name: &str| {
        let rest = keyspace.split(name).nth(1)?;
        rest.split(',').next()?.parse().ok()
    };
    (field("keys=").unwrap_or(0), field("expires=").unwrap_or(0))
}

/// The name of a key without expiry, if there still is one.
fn name(connection: &mut Connection) -> RedisResult<String> {
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(connection)?;
    for key in keys {
        if redis::cmd("PTTL").arg(&key).query::<i64>(connection)? == -1 {
            return Ok(key);
        }
    }
    Ok("(one that has gone or has one by now)".to_owned())
}

#[cfg(test)]
mod tests {
    use test_support::{Flavor, Server};

    use super::{count, look};

    #[test]
    fn a_key_without_expiry_is_found() {
        let server = Server::start(Flavor::Installed);
        server.command::<()>(&["SET", "mortal", "", "PX", "60000"]);
        assert_eq!(look(&server.url()).unwrap(), (1, None));
        server.command::<()>(&["SET", "immortal", ""]);
        assert_eq!(look(&server.url()).unwrap(), (2, Some("immortal".to_owned())));
    }

    #[test]
    fn keys_are_counted() {
        assert_eq!(count("# Keyspace\r\ndb0:keys=37,expires=36,avg_ttl=9\r\n"), (37, 36));
        assert_eq!(count("# Keyspace\r\n"), (0, 0));
    }
}
