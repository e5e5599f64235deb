//! The state of a limiter, as its servers have it.

use redis::{Cmd, Connection, ErrorKind, FromRedisValue, ServerErrorKind, cmd};
use test_support::Server;

use crate::place::Place;

/// The state under a prefix for the key that tests use.
pub struct Kept {
    prefix: String,
    connections: Vec<Connection>,
}

impl Kept {
    /// All that is below a prefix.
    pub fn at(place: Place<'_>, prefix: &str) -> Self {
        let connections = place.servers().into_iter().map(Server::connect).collect();
        Self { prefix: prefix.to_owned(), connections }
    }

    /// Their names.
    pub fn keys(&mut self) -> Vec<String> {
        let pattern = format!("{}:*:key", self.prefix);
        let mut command = cmd("KEYS");
        command.arg(pattern);
        let keys =
            |connection: &mut Connection| -> Vec<String> { command.query(connection).unwrap() };
        self.connections.iter_mut().flat_map(keys).collect()
    }

    /// Asks the server that has the key of the command.
    pub fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> T {
        for connection in &mut self.connections {
            match command.query(connection) {
                Err(e) if e.kind() == ErrorKind::Server(ServerErrorKind::Moved) => {}
                result => return result.unwrap(),
            }
        }
        panic!("no server has this key");
    }

    /// The milliseconds after which a key expires; -1 if it does not, -2 if it has.
    pub fn pttl(&mut self, key: &str) -> i64 {
        self.ask(cmd("PTTL").arg(key))
    }
}
