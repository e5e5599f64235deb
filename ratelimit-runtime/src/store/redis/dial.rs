//! One attempt to connect: to the server, and to one that can do what is needed.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection as Link;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, Pipeline, ProtocolVersion,
    RedisConnectionInfo, RedisResult, Value,
};
use tokio::time::timeout;

use super::connection::Connection;
use super::failure::{self, Question, Remedy};
use super::node::Request;
use super::tls::Tls;
use crate::error::{ConfigError, StoreError};

/// The kernel asks the other side of a connection that has been idle for this long, and again after
/// each of the second. Only a second net: a connection to a server that decides is never idle for
/// longer than a second.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// For this long an answer is looked for after it is late.
const LATE: Duration = Duration::from_millis(1);

/// By which means servers are reached.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    /// How long an attempt may take, from looking the name up to the server's first answer: far
    /// longer than a check, which does not wait for it.
    pub(super) connect_timeout: Duration,
    /// The deadline of a check: a server that needs longer for nothing at all is of no use.
    pub(super) deadline: Duration,
    pub(super) tls: Tls,
    /// A call that touches nobody's budget.
    pub(super) probe: Arc<Request>,
}

/// A server that can decide.
pub(super) struct Ready {
    pub(super) link: Link,
    /// Whether it has taken the scripts; else they are sent along with a call.
    pub(super) takes_uploads: bool,
}

impl Dial {
    /// A server for which everything is known.
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, ConfigError> {
        // Nothing is said about this library: it would cost a permission, and old servers count it
        // as an error. Version 3 of the protocol begins with a command that proxies may not know.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        let login = login.set_protocol(ProtocolVersion::RESP2);
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
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let opening = client.get_multiplexed_async_connection_with_config(&config);
        match timeout(self.connect_timeout, opening).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(error)) => Err(failure::while_connecting(&error, None, address)),
            Err(_) => {
                let login = client.get_connection_info().redis_settings();
                let login = if login.password().is_some() { " or logging in" } else { "" };
                let reason =
                    format!("{}: timed out while connecting{login}", failure::name(address));
                Err(StoreError::Connection { reason })
            }
        }
    }

    /// A connection to a server that can decide, and has the scripts.
    pub(super) async fn primary(&self, client: &Client) -> Result<Ready, StoreError> {
        let address = client.get_connection_info().addr();
        let name = failure::name(address);
        let mut link = self.open(client).await?;
        let command = redis::cmd("INFO");
        let info = command.query_async::<String>(&mut link);
        match timeout(self.connect_timeout, info).await {
            Err(_) => return Err(timed_out(Question::INFO, address)),
            Ok(Ok(info)) => fit(&info, &name)?,
            // It may be able to run the scripts all the same.
            Ok(Err(error)) if failure::is_no_obstacle(&error) => {}
            Ok(Err(error)) => {
                return Err(failure::while_connecting(&error, Some(Question::INFO), address));
            }
        }
        // There are gateways that answer what is easy for a server that is gone.
        match self.probe(&mut link).await {
            Some(Err(error)) if !failure::is_no_obstacle(&error) => {
                return Err(failure::while_connecting(&error, Some(Question::PROBE), address));
            }
            Some(_) => {}
            None => {
                return Err(StoreError::Connection {
                    reason: format!("{name} answers later than after {:?}", self.deadline),
                });
            }
        }
        match timeout(self.connect_timeout, upload(&mut link)).await {
            Ok(Ok(takes_uploads)) => Ok(Ready { link, takes_uploads }),
            Ok(Err(error)) => {
                Err(failure::while_connecting(&error, Some(Question::UPLOAD), address))
            }
            Err(_) => Err(timed_out(Question::UPLOAD, address)),
        }
    }

    /// Whether a server that has been silent is there. Whether it decides is for calls to find out,
    /// but for what it says itself.
    pub(super) async fn still_answers(&self, connection: &Connection) -> bool {
        let (mut link, asked) = (connection.link(), Instant::now());
        let Some(answer) = self.probe(&mut link).await else {
            // Others may have had answers meanwhile.
            return connection.silent_for() < asked.elapsed();
        };
        let Err(error) = answer else {
            connection.answered(true);
            return true;
        };
        if matches!(failure::remedy(&error), Remedy::Drop | Remedy::Reconnect) {
            return false;
        }
        connection.answered(false);
        // It has forgotten the scripts, and no call needs to find that out.
        if failure::is_lacking(&error) && connection.takes_uploads() {
            return match timeout(self.connect_timeout, upload(&mut link)).await {
                Ok(Ok(takes_uploads)) => {
                    if !takes_uploads {
                        connection.refuses_uploads();
                    }
                    true
                }
                Ok(Err(_)) | Err(_) => false,
            };
        }
        true
    }

    /// The answer to a call that touches nobody's budget, if it comes within the deadline.
    async fn probe(&self, link: &mut Link) -> Option<RedisResult<Value>> {
        let mut asking = pin!(link.send_packed_command(&self.probe.command));
        let answer = match timeout(self.deadline, asking.as_mut()).await {
            Ok(answer) => answer,
            // The machine may have kept this thread from reading what has arrived.
            Err(_) => timeout(LATE, asking).await.ok()?,
        };
        Some(answer.and_then(Value::extract_error))
    }
}

/// Uploads all scripts; whether the server takes them.
pub(super) async fn upload(link: &mut Link) -> RedisResult<bool> {
    let mut uploads = Pipeline::with_capacity(ratelimit_lua::ALL.len());
    for script in ratelimit_lua::ALL {
        uploads.cmd("SCRIPT").arg("LOAD").arg(script.source);
    }
    let mut takes_uploads = true;
    for answer in link.send_packed_commands(&uploads, 0, ratelimit_lua::ALL.len()).await? {
        match answer.extract_error() {
            Err(error) if failure::cannot_compile(&error) => return Err(error),
            // What else it says may be over at the first call.
            Err(error) if failure::is_refusal(&error) => takes_uploads = false,
            Ok(_) | Err(_) => {}
        }
    }
    Ok(takes_uploads)
}

/// How messages go over a socket: decisions are small, frequent and urgent. Without `TCP_NODELAY`
/// each waits until the one before it is acknowledged, which costs a round trip.
fn tcp() -> TcpSettings {
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE.0);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keep_alive = keep_alive.with_interval(KEEP_ALIVE.1);
    TcpSettings::default().set_nodelay(true).set_keepalive(keep_alive)
}

/// A question was not answered in time.
pub(super) fn timed_out(question: Question, address: &ConnectionAddr) -> StoreError {
    let reason = format!("{}: {question}: timed out", failure::name(address));
    StoreError::Connection { reason }
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
    use crate::store::redis::naming::{Names, Naming};
    use crate::store::redis::script;

    #[test]
    fn messages_go_out_at_once() {
        let probe = script::probe(Names { naming: &Naming::new("p", None), grouped: false });
        let dial = Dial {
            connect_timeout: Duration::from_secs(1),
            deadline: Duration::from_millis(50),
            tls: Tls::default(),
            probe: Arc::new(probe),
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
