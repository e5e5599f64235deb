//! One attempt to connect: to the server, and then whether it can do what is needed.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection as Link;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _,
    Pipeline, RedisConnectionInfo, RedisError, RedisResult, Value,
};
use tokio::time::timeout;

use super::command::ProbeRequests;
use super::connection::Connection;
use super::credentials::Provider;
use super::endpoint::Endpoint;
use super::failure::{self, Remedy, SetupStep};
use super::info::{Info, Unfit};
use super::login;
use super::sharded::Sharded;
use super::tls::Tls;
use crate::driver;
use crate::error::{ConfigError, InvalidUrl, StoreError};
use crate::telemetry;

/// After its deadline, a reply to a probe is looked for once more for this long.
const GRACE: Duration = Duration::from_millis(1);

/// How servers are reached.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    /// How long an attempt may take, from looking up the host name to the first reply of the server: far
    /// longer than a check, which does not wait for it.
    pub(super) connect_timeout: Duration,
    /// The deadline of a check: a server that needs longer to reply to a probe is of no use.
    pub(super) deadline: Duration,
    pub(super) tls: Tls,
    /// Calls that charge nobody.
    pub(super) probes: Arc<ProbeRequests>,
    /// The key that they are about, except on a cluster.
    pub(super) probe_key: String,
    /// Has the login at the servers, if that can change.
    pub(super) provider: Option<Provider>,
    /// Has the login at Sentinels.
    pub(super) sentinel_provider: Option<Provider>,
    /// Whether keys lie in slots, although the URL names one address.
    pub(super) sharded: Sharded,
}

/// A connection to a server that can decide.
pub(super) struct Connected {
    pub(super) link: Link,
    /// Whether it has taken the scripts; else each call carries its script.
    pub(super) takes_uploads: bool,
}

impl Dial {
    /// A server that a URL names.
    pub(super) fn endpoint(&self, info: ConnectionInfo) -> Endpoint {
        Endpoint::new(info, self.provider.clone(), false)
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
        let info = addr
            .into_connection_info()
            .map_err(|_| ConfigError::RedisUrl(InvalidUrl::Host { number: 1, of: 1 }))?;
        Ok(Endpoint::new(info.set_redis_settings(login.clone()), self.provider.clone(), true))
    }

    /// A connection, whoever is at the other end.
    pub(super) async fn open(&self, to: &Endpoint) -> Result<Link, StoreError> {
        timeout(self.connect_timeout, self.open_without_limit(to))
            .await
            .unwrap_or_else(|_| Err(to.timed_out_connecting()))
    }

    async fn open_without_limit(&self, to: &Endpoint) -> Result<Link, StoreError> {
        let settings = to.next_attempt(self.connect_timeout, &self.tls).await?;
        let info = &settings.info;
        telemetry::connecting();
        // The limiter has its own deadline, and one slow reply must not cut a connection that others use too.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let failed = |error: RedisError| to.failed(&error, None);
        let login = info.redis_settings();
        let without_login = login::none();
        #[cfg(feature = "tls")]
        if let (ConnectionAddr::TcpTls { host, port, .. }, Some(tls)) = (info.addr(), &settings.tls)
        {
            let stream = tls.connect(host, *port, info.tcp_settings()).await;
            let stream = stream.map_err(|error| failed(error.into()))?;
            let (mut link, driver) =
                Link::new_with_config(&without_login, stream, config).await.map_err(failed)?;
            // It ends with the connection, and when the last clone of the link is dropped.
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
    pub(super) async fn connect(&self, to: &Endpoint) -> Result<Connected, StoreError> {
        let mut link = self.open(to).await?;
        let command = redis::cmd("INFO");
        let info = command.query_async::<String>(&mut link);
        let info = match timeout(self.connect_timeout, info).await {
            Err(_) => return Err(to.timed_out(SetupStep::INFO)),
            Ok(Ok(info)) => info,
            // It may run the scripts all the same.
            Ok(Err(error)) if failure::is_tolerable(&error) => String::new(),
            Ok(Err(error)) => return Err(to.failed(&error, Some(SetupStep::INFO))),
        };
        let info = Info(&info);
        info.check(&to.name()).map_err(|unfit| match unfit {
            // It was a primary before, or somebody says that it is one: a failover is under way.
            Unfit::Replica(why) if to.is_discovered || to.has_succeeded() => why,
            Unfit::Replica(why) | Unfit::TooOld(why) => to.block(why),
        })?;
        // Gateways exist that answer simple commands for a server that is gone.
        match self.probe(&mut link).await {
            Some(Err(error)) if !failure::is_tolerable(&error) => {
                return Err(to.failed(&error, Some(SetupStep::PROBE)));
            }
            Some(_) => {}
            None => {
                return Err(StoreError::Connection {
                    reason: format!("{} did not answer within {:?}", to.name(), self.deadline),
                });
            }
        }
        let takes_uploads = match timeout(self.connect_timeout, upload_all(&mut link)).await {
            Ok(Ok(takes_uploads)) => takes_uploads,
            Ok(Err(error)) => return Err(to.failed(&error, Some(SetupStep::UPLOAD))),
            Err(_) => return Err(to.timed_out(SetupStep::UPLOAD)),
        };
        if info.is_sharded() {
            self.sharded.found();
        }
        if let Some(policy) = info.evicts_by() {
            warn_of_eviction(to.name(), policy.to_owned());
        }
        to.succeeded();
        Ok(Connected { link, takes_uploads })
    }

    /// Probes a connection whose server has not replied for a while. An error that says nothing about the
    /// server itself is for calls to find out.
    pub(super) async fn still_answers(&self, connection: &Connection) -> bool {
        let (mut link, asked) = (connection.link(), Instant::now());
        let Some(reply) = self.probe(&mut link).await else {
            // Calls may have had replies meanwhile.
            return connection.since_last_reply() < asked.elapsed();
        };
        let Err(error) = reply else {
            connection.replied(true);
            return true;
        };
        if matches!(failure::remedy(&error), Remedy::Drop | Remedy::Reconnect) {
            return false;
        }
        connection.replied(false);
        // It has lost the scripts: no call needs to find that out.
        if failure::is_script_missing(&error) && connection.takes_uploads() {
            return match timeout(self.connect_timeout, upload_all(&mut link)).await {
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

    /// The reply to a call that charges nobody, if it comes within the deadline.
    async fn probe(&self, link: &mut Link) -> Option<RedisResult<Value>> {
        let mut asking = pin!(link.send_packed_command(&self.probes.decision.command));
        let reply = match timeout(self.deadline, asking.as_mut()).await {
            Ok(reply) => reply,
            // It may have arrived while a busy machine kept this thread from reading it.
            Err(_) => timeout(GRACE, asking).await.ok()?,
        };
        Some(reply.and_then(Value::extract_error))
    }
}

/// Uploads all scripts. `false` if the server does not take them.
pub(super) async fn upload_all(link: &mut Link) -> RedisResult<bool> {
    let mut uploads = Pipeline::with_capacity(ratelimit_lua::ALL.len());
    for script in ratelimit_lua::ALL {
        uploads.cmd("SCRIPT").arg("LOAD").arg(script.source);
    }
    let mut takes_uploads = true;
    for reply in link.send_packed_commands(&uploads, 0, ratelimit_lua::ALL.len()).await? {
        match reply.extract_error() {
            Err(error) if failure::cannot_compile(&error) => return Err(error),
            Err(error) if failure::is_refused_command(&error) => takes_uploads = false,
            // Other errors may have gone away by the first call.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(takes_uploads)
}

fn warn_of_eviction(server: String, maxmemory_policy: String) {
    // Not on this thread, on which all calls depend: a log may block.
    driver::later(Duration::ZERO, move || {
        tracing::warn!(
            server,
            maxmemory_policy,
            "the server may evict rate limits when its memory is full: an evicted budget is a full one. \
             Give them a server of their own, with `noeviction`"
        );
    });
}
