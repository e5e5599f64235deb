//! A client that shows everything it gets.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case. A name that comes twice fails the test.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// A request, byte for byte.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    line: String,
    headers: Vec<u8>,
    body: String,
}

/// A GET.
pub(crate) fn get(path: &str) -> Ask {
    ask("GET", path)
}

/// Any method.
pub(crate) fn ask(method: &str, path: &str) -> Ask {
    let line = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
    Ask { line, headers: Vec::new(), body: String::new() }
}

/// A POST with a JSON body, or a GET.
pub(crate) fn send(address: SocketAddr, path: &str, json: Option<&str>) -> Answer {
    let mut ask = ask(if json.is_some() { "POST" } else { "GET" }, path);
    json.unwrap_or_default().clone_into(&mut ask.body);
    ask.header("content-type", "application/json").to(address)
}

impl Ask {
    /// One more header, of any bytes.
    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.extend([name.as_bytes(), b": ", value.as_ref(), b"\r\n"].concat());
        self
    }

    /// Sends it, over a connection of its own.
    pub(crate) fn to(&self, address: SocketAddr) -> Answer {
        self.over(TcpStream::connect(address).unwrap())
    }

    /// Sends it over a Unix socket.
    pub(crate) fn to_socket(&self, at: &Path) -> Answer {
        self.over(UnixStream::connect(at).unwrap())
    }

    fn over(&self, mut stream: impl Read + Write) -> Answer {
        stream.write_all(self.line.as_bytes()).unwrap();
        stream.write_all(&self.headers).unwrap();
        let body = format!("content-length: {}\r\n\r\n{}", self.body.len(), self.body);
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::parse(std::str::from_utf8(&answer).unwrap())
    }

    /// The statuses of so many.
    pub(crate) fn times(&self, n: usize, address: SocketAddr) -> Vec<u16> {
        (0..n).map(|_| self.to(address).status).collect()
    }
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = HashMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let before = headers.insert(name.to_lowercase(), value.to_owned());
            assert!(before.is_none() || name == "vary", "{name} comes twice");
        }
        Self { status, headers, body: body.to_owned() }
    }

    /// A header that must be there.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    /// The header fields about rate limits: their names, in order.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let ours = |name: &&str| name.contains("ratelimit") || *name == "retry-after";
        let mut names: Vec<&str> = self.headers.keys().map(String::as_str).filter(ours).collect();
        names.sort_unstable();
        names
    }

    /// A refusal as it is by default.
    #[track_caller]
    pub(crate) fn is_refusal(&self) {
        assert_eq!(self.status, 429, "{self:?}");
        let wait: u64 = self.headers["retry-after"].parse().unwrap();
        assert!((1..=60).contains(&wait), "{self:?}");
        self.is_problem("Too Many Requests");
    }

    /// The answer of a closed rule when no store answers.
    #[track_caller]
    pub(crate) fn is_unavailable(&self) {
        assert_eq!(self.status, 503, "{self:?}");
        assert_eq!(self.fields(), [""; 0], "{self:?}");
        self.is_problem("Service Unavailable");
    }

    /// The answer to a mistake of ours.
    #[track_caller]
    pub(crate) fn is_our_mistake(&self) {
        assert_eq!(self.status, 500, "{self:?}");
        assert_eq!(self.fields(), [""; 0], "{self:?}");
        self.is_problem("Internal Server Error");
    }

    #[track_caller]
    fn is_problem(&self, title: &str) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["title"], title, "{self:?}");
        assert_eq!(problem["status"], self.status, "{self:?}");
    }
}
