//! HTTP by hand: attackers do what no client library does.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// A request of a client with this address, as the proxy in front of the service writes it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    ip: String,
    more: String,
    body: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn get(path: &str, ip: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.to_owned(),
            ip: ip.into(),
            more: String::new(),
            body: String::new(),
        }
    }

    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.more.extend([name, ": ", value, "\r\n"]);
        self
    }

    /// With a body in JSON.
    pub(crate) fn json(self, body: String) -> Self {
        Self { body, ..self.header("content-type", "application/json") }
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { method, path, ip, more, body } = self;
        let head = format!("host: service\r\ncontent-length: {}", body.len());
        let head = format!("{method} {path} HTTP/1.1\r\n{head}\r\nx-forwarded-for: {ip}\r\n{more}");
        [&head, "\r\n", body].concat().into()
    }

    /// Asks over a connection of its own.
    pub(crate) async fn to(&self, address: SocketAddr) -> Answer {
        let mut connection = Connection::to(address).await;
        connection.ask(self).await
    }

    /// Asks, and closes the connection after a while, whatever has come back.
    pub(crate) async fn and_close_after(self, after: Duration, address: SocketAddr) {
        let mut connection = Connection::to(address).await;
        connection.stream.write_all(&self.bytes()).await.unwrap();
        sleep(after).await;
    }
}

/// A connection for several requests.
pub(crate) struct Connection {
    stream: TcpStream,
}

impl Connection {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    pub(crate) async fn ask(&mut self, request: &Request) -> Answer {
        self.stream.write_all(&request.bytes()).await.unwrap();
        let mut read = Vec::new();
        let body_at = loop {
            if let Some(end) = read.windows(4).position(|end| end == b"\r\n\r\n") {
                break end + 4;
            }
            assert!(self.more(&mut read).await, "no answer to {request:?}");
        };
        let head = String::from_utf8_lossy(&read[..body_at]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        let length = if request.method == "HEAD" { 0 } else { length };
        while read.len() < body_at + length && self.more(&mut read).await {}
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Answer { status, body: String::from_utf8_lossy(&read[body_at..]).into_owned(), head }
    }

    async fn more(&mut self, read: &mut Vec<u8>) -> bool {
        self.stream.read_buf(read).await.is_ok_and(|len| len > 0)
    }
}
