//! Asks Sentinels for the primary of a name.

use std::time::Duration;

use redis::{Client, RedisConnectionInfo};
use tokio::time::timeout;

use super::dial::Dial;
use super::failure;
use crate::error::{ConfigError, StoreError};

/// How long one Sentinel may take to answer before the next is asked.
const PATIENCE: Duration = Duration::from_millis(300);

/// Some Sentinels that watch one primary.
#[derive(Debug)]
pub(super) struct Sentinels {
    clients: Vec<Client>,
    primary: String,
    login: RedisConnectionInfo,
    tls: bool,
}

impl Sentinels {
    pub(super) fn new(
        sentinels: Vec<redis::ConnectionInfo>,
        primary: String,
        login: RedisConnectionInfo,
        tls: bool,
        dial: &Dial,
    ) -> Result<Self, ConfigError> {
        let clients =
            sentinels.into_iter().map(|info| dial.client(info)).collect::<Result<_, _>>()?;
        Ok(Self { clients, primary, login, tls })
    }

    /// What to call them in a message.
    pub(super) fn name(&self) -> &str {
        &self.primary
    }

    /// The primary, as the first Sentinel that answers says. One that has just lost touch with the
    /// others may name the wrong server, which is found out when that is asked for its role.
    pub(super) async fn find(&self, dial: &Dial) -> Result<Client, StoreError> {
        let mut failure = StoreError::Connection { reason: "no Sentinel is known".to_owned() };
        // Not always the same one first: it may be the one that is wrong.
        let start = fastrand::usize(..self.clients.len().max(1));
        for client in self.clients.iter().cycle().skip(start).take(self.clients.len()) {
            let address = client.get_connection_info().addr();
            match timeout(PATIENCE, self.ask(client, dial)).await {
                Ok(Ok((host, port))) => {
                    let client = dial.client_at(&host, port, self.tls, &self.login);
                    return client.map_err(StoreError::Config);
                }
                Ok(Err(error)) => failure = error,
                Err(_) => {
                    let reason = format!("the Sentinel at {address} did not answer");
                    failure = StoreError::Connection { reason };
                }
            }
        }
        Err(failure)
    }

    async fn ask(&self, client: &Client, dial: &Dial) -> Result<(String, u16), StoreError> {
        let address = client.get_connection_info().addr();
        let mut link = dial.open(client).await?;
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.primary);
        let answer = command.query_async::<Option<(String, u16)>>(&mut link).await;
        answer.map_err(|error| failure::while_connecting(&error, address))?.ok_or_else(|| {
            let primary = &self.primary;
            StoreError::Server { reason: format!("the Sentinel at {address} knows no `{primary}`") }
        })
    }
}
