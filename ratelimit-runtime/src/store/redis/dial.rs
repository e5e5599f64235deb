//! One attempt to connect: to the server, and to one that can do what is needed.

use std::time::Duration;

use redis::aio::MultiplexedConnection as Link;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, RedisConnectionInfo};
use tokio::time::timeout;

use super::failure;
use super::tls::Tls;
use crate::error::{ConfigError, StoreError};

/// The kernel asks the other side of a connection that has been idle for this long, and again after
/// each of the second. Only a second net: a connection to a server that decides is never idle for
/// longer than a second.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// By which means servers are reached.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    /// How long an attempt may take, from looking the name up to the server's first answer: far
    /// longer than a check, which does not wait for it.
    pub(super) connect_timeout: Duration,
    /// The deadline of a check: a server that needs longer for nothing at all is of no use.
    pub(super) deadline: Duration,
    pub(super) tls: Tls,
}

impl Dial {
    /// A server for which everything is known.
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, ConfigError> {
        // Nothing is said about this library: it would cost a permission, and old servers count it
        // as an error.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        self.tls.client(info.set_redis_settings(login).set_tcp_settings(tcp()))
    }

    /// A server that another one has named, reached as that one was.
    pub(super) fn client_at(
        &self,
        host: &str,
        port: u16,
        tls: bool,
        login: &RedisConnectionInfo,
    ) -> Result<Client, ConfigError> {
        let host = host.to_owned();
        let addr = if tls {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        };
        let info = redis::IntoConnectionInfo::into_connection_info(addr)
            .map_err(|_| ConfigError::RedisUrl)?;
        self.client(info.set_redis_settings(login.clone()))
    }

    /// A connection, without a look at who is there.
    pub(super) async fn open(&self, client: &Client) -> Result<Link, StoreError> {
        let address = client.get_connection_info().addr();
        // The limiter has a deadline of its own, and a connection that others use as well is not
        // to be cut for one slow answer.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.connect_timeout))
            .set_response_timeout(None);
        let opening = client.get_multiplexed_async_connection_with_config(&config);
        // The client's own timeout does not cover the login.
        match timeout(self.connect_timeout, opening).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(error)) => Err(failure::while_connecting(&error, address)),
            Err(_) => Err(timed_out(address)),
        }
    }

    /// A connection to a server that can decide.
    pub(super) async fn primary(&self, client: &Client) -> Result<Link, StoreError> {
        let address = client.get_connection_info().addr();
        let mut link = self.open(client).await?;
        let mut command = redis::cmd("INFO");
        let info = command.query_async::<String>(&mut link);
        match timeout(self.connect_timeout, info).await {
            Err(_) => return Err(timed_out(address)),
            Ok(Ok(info)) => fit(&info, &failure::name(address))?,
            // A server that does not let this user ask may still let it run the scripts.
            Ok(Err(error)) if error.code() == Some("NOPERM") => {}
            Ok(Err(error)) => return Err(failure::while_connecting(&error, address)),
        }
        command = redis::cmd("PING");
        let ping = command.query_async::<redis::Value>(&mut link);
        match timeout(self.deadline, ping).await {
            Ok(Ok(_)) => Ok(link),
            Ok(Err(error)) if error.code() == Some("NOPERM") => Ok(link),
            Ok(Err(error)) => Err(failure::while_connecting(&error, address)),
            Err(_) => Err(StoreError::Connection {
                reason: format!(
                    "{} answers later than after {:?}",
                    failure::name(address),
                    self.deadline
                ),
            }),
        }
    }
}

/// How messages go over a socket: decisions are small, frequent and urgent. Without `TCP_NODELAY`
/// each waits until the one before it is acknowledged, which costs a round trip.
fn tcp() -> TcpSettings {
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE.0);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keep_alive = keep_alive.with_interval(KEEP_ALIVE.1);
    TcpSettings::default().set_nodelay(true).set_keepalive(keep_alive)
}

fn timed_out(address: &ConnectionAddr) -> StoreError {
    StoreError::Connection { reason: format!("{}: timed out", failure::name(address)) }
}

/// Whether a server can run the scripts, by what it says about itself.
fn fit(info: &str, address: &str) -> Result<(), StoreError> {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    // The scripts begin with a line that says what they are, which came with 7.0. Valkey tells the
    // version of Redis that it stands in for.
    let major = |version: &str| version.split('.').next()?.parse::<u32>().ok();
    if let Some(version) = field("redis_version:")
        && major(version).is_some_and(|major| major < 7)
    {
        let reason = format!("{address} is Redis {version}, and 7.0 or newer is needed");
        return Err(StoreError::Server { reason });
    }
    if field("role:") == Some("slave") {
        let reason = format!("{address} is a replica, which cannot count");
        return Err(StoreError::Server { reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use redis::IntoConnectionInfo as _;

    use super::*;

    #[test]
    fn messages_go_out_at_once() {
        let dial = Dial {
            connect_timeout: Duration::from_secs(1),
            deadline: Duration::from_millis(50),
            tls: Tls::default(),
        };
        let info = "redis://app:pw@host/2".into_connection_info().unwrap();
        let login = info.redis_settings().clone();
        let clients = [dial.client(info), dial.client_at("host", 1, false, &login)];
        for client in clients {
            let client = client.unwrap();
            let info = client.get_connection_info();
            assert!(info.tcp_settings().nodelay() && info.tcp_settings().keepalive().is_some());
            assert_eq!(info.redis_settings().db(), 2);
        }
    }

    #[test]
    fn servers_that_cannot_decide_are_recognised() {
        let old = fit("# Server\r\nredis_version:6.2.14\r\n", "host:1").unwrap_err().to_string();
        assert!(old.contains("host:1 is Redis 6.2.14, and 7.0 or newer is needed"), "{old}");
        let replica = fit("redis_version:7.0.15\r\nrole:slave\r\n", "host:1").unwrap_err();
        assert!(replica.to_string().contains("replica"), "{replica}");
        for fine in [
            "redis_version:7.0.15\r\nvalkey_version:8.1.1\r\nrole:master\r\n",
            "redis_version:10.0.0\r\n",
            "something else",
        ] {
            assert_eq!(fit(fine, "host:1"), Ok(()));
        }
    }
}
