//! One attempt to connect: to the server, and to one that can do what is needed.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection as Link;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, Pipeline, ProtocolVersion,
    RedisConnectionInfo, RedisError, RedisResult, Value,
};
use tokio::time::timeout;

use super::connection::Connection;
use super::credentials::Provider;
use super::endpoint::{Endpoint, Login};
use super::failure::{self, Question, Remedy};
use super::info::{Info, Unfit};
use super::login;
use super::script::Questions;
use super::sharded::Sharded;
use super::tls::Tls;
use crate::driver;
use crate::error::{ConfigError, InvalidUrl, StoreError};
use crate::telemetry;

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
    /// Calls that touch nobody's budget.
    pub(super) questions: Arc<Questions>,
    /// What they are about, but for a cluster.
    pub(super) probe_key: String,
    /// As whom to log in, if that can change.
    pub(super) provider: Option<Provider>,
    /// As whom at Sentinels.
    pub(super) sentinel_provider: Option<Provider>,
    /// Whether the address of a URL turned out to have many slots behind it.
    pub(super) sharded: Sharded,
}

/// A server that can decide.
pub(super) struct Ready {
    pub(super) link: Link,
    /// Whether it has taken the scripts; else they are sent along with a call.
    pub(super) takes_uploads: bool,
}

impl Dial {
    /// A server that a URL names.
    pub(super) fn endpoint(&self, info: ConnectionInfo) -> Endpoint {
        endpoint_as(info, self.provider.clone(), false)
    }

    /// A server that another one has named, reached as that one was.
    pub(super) fn endpoint_at(
        &self,
        host: &str,
        port: u16,
        tls: bool,
        login: &RedisConnectionInfo,
    ) -> Result<Endpoint, ConfigError> {
        let host = host.to_owned();
        let addr = if tls {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        };
        let info = redis::IntoConnectionInfo::into_connection_info(addr)
            .map_err(|_| ConfigError::RedisUrl(InvalidUrl::Host { number: 1, of: 1 }))?;
        let info = info.set_redis_settings(login.clone());
        Ok(endpoint_as(info, self.provider.clone(), true))
    }

    /// A connection, without a look at who is there.
    pub(super) async fn open(&self, to: &Endpoint) -> Result<Link, StoreError> {
        timeout(self.connect_timeout, self.open_patiently(to))
            .await
            .unwrap_or_else(|_| Err(to.timed_out_connecting()))
    }

    async fn open_patiently(&self, to: &Endpoint) -> Result<Link, StoreError> {
        let means = to.means(self).await?;
        let info = &means.info;
        telemetry::connecting();
        // The limiter has a deadline of its own, and a connection that others use as well is not
        // to be cut for one slow answer.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let failed = |error: RedisError| to.failed(&error, None);
        let login = info.redis_settings();
        let without_login = login::without();
        #[cfg(feature = "tls")]
        if let (ConnectionAddr::TcpTls { host, port, .. }, Some(tls)) = (info.addr(), &means.tls) {
            let stream = tls.connect(host, *port, info.tcp_settings()).await;
            let stream = stream.map_err(|error| failed(error.into()))?;
            let (mut link, driver) =
                Link::new_with_config(&without_login, stream, config).await.map_err(failed)?;
            // It ends with the connection, and with the last of those who use it.
            tokio::spawn(driver);
            login::log_in(&mut link, login).await.map_err(failed)?;
            return Ok(link);
        }
        let server = info.clone().set_redis_settings(without_login);
        let client = Client::open(server).map_err(failed)?;
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        let mut link = connecting.await.map_err(failed)?;
        login::log_in(&mut link, login).await.map_err(failed)?;
        Ok(link)
    }

    /// A connection to a server that can decide, and has the scripts.
    pub(super) async fn primary(&self, to: &Endpoint) -> Result<Ready, StoreError> {
        let mut link = self.open(to).await?;
        let command = redis::cmd("INFO");
        let info = command.query_async::<String>(&mut link);
        let info = match timeout(self.connect_timeout, info).await {
            Err(_) => return Err(to.timed_out(Question::INFO)),
            Ok(Ok(info)) => info,
            // It may be able to run the scripts all the same.
            Ok(Err(error)) if failure::is_no_obstacle(&error) => String::new(),
            Ok(Err(error)) => return Err(to.failed(&error, Some(Question::INFO))),
        };
        let info = Info(&info);
        info.fit(&to.name()).map_err(|unfit| match unfit {
            // One that was a primary before is one in the middle of a failover.
            Unfit::Replica(why) if to.is_named || to.has_worked() => why,
            Unfit::Replica(why) | Unfit::TooOld(why) => to.hold_back(why),
        })?;
        // There are gateways that answer what is easy for a server that is gone.
        match self.probe(&mut link).await {
            Some(Err(error)) if !failure::is_no_obstacle(&error) => {
                return Err(to.failed(&error, Some(Question::PROBE)));
            }
            Some(_) => {}
            None => {
                return Err(StoreError::Connection {
                    reason: format!("{} answers later than after {:?}", to.name(), self.deadline),
                });
            }
        }
        let takes_uploads = match timeout(self.connect_timeout, upload(&mut link)).await {
            Ok(Ok(takes_uploads)) => takes_uploads,
            Ok(Err(error)) => return Err(to.failed(&error, Some(Question::UPLOAD))),
            Err(_) => return Err(to.timed_out(Question::UPLOAD)),
        };
        if info.is_sharded() {
            self.sharded.found();
        }
        if let Some(policy) = info.evicts_by() {
            let (server, policy) = (to.name().clone(), policy.to_owned());
            // Not on this thread: all calls wait for it.
            driver::later(Duration::ZERO, move || {
                tracing::warn!(
                    server,
                    maxmemory_policy = policy,
                    "the server may forget rate limits when its memory is full: a forgotten budget is a \
                     full one. Give them a server of their own, with `noeviction`"
                );
            });
        }
        to.works();
        Ok(Ready { link, takes_uploads })
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
        let mut asking = pin!(link.send_packed_command(&self.questions.probe.command));
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

/// A server where one logs in in a way of its own.
pub(super) fn endpoint_as(
    info: ConnectionInfo,
    provider: Option<Provider>,
    is_named: bool,
) -> Endpoint {
    // Nothing is said about this library: it would cost a permission, and old servers count it
    // as an error. Version 3 of the protocol begins with a command that proxies may not know.
    let settings = info.redis_settings().clone().set_skip_set_lib_name();
    let settings = settings.set_protocol(ProtocolVersion::RESP2);
    let login = Login { settings, provider };
    Endpoint::new(info.set_tcp_settings(tcp()), login, is_named)
}

/// How messages go over a socket: decisions are small, frequent and urgent. Without `TCP_NODELAY`
/// each waits until the one before it is acknowledged, which costs a round trip.
fn tcp() -> TcpSettings {
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE.0);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keep_alive = keep_alive.with_interval(KEEP_ALIVE.1);
    TcpSettings::default().set_nodelay(true).set_keepalive(keep_alive)
}

#[cfg(test)]
mod tests {
    use redis::IntoConnectionInfo as _;

    use super::*;
    use crate::store::redis::naming::{Names, Naming};

    impl Dial {
        /// With the settings that limiters have if nothing else is said.
        pub(in super::super) fn for_tests() -> Self {
            let naming = Naming::new("p", None);
            let names = Names { naming: &naming, grouped: false };
            Self {
                connect_timeout: Duration::from_secs(1),
                deadline: Duration::from_millis(50),
                tls: Tls::default(),
                questions: Arc::new(Questions::new(names)),
                probe_key: names.probe(),
                provider: None,
                sentinel_provider: None,
                sharded: Sharded::default(),
            }
        }
    }

    #[test]
    fn messages_go_out_at_once() {
        let dial = Dial::for_tests();
        let info = "redis://app:pw@host/2".into_connection_info().unwrap();
        let login = info.redis_settings().clone();
        let endpoints = [dial.endpoint(info), dial.endpoint_at("host", 1, false, &login).unwrap()];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for endpoint in endpoints {
            let info = runtime.block_on(endpoint.means(&dial)).ok().unwrap().info;
            assert!(info.tcp_settings().nodelay() && info.tcp_settings().keepalive().is_some());
            assert_eq!(info.redis_settings().db(), 2);
        }
    }
}
