//! A client that shows everything it gets.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case. A name that comes twice fails the test.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// A POST with a JSON body, or a GET, over a connection of its own.
pub(crate) fn send(address: SocketAddr, path: &str, json: Option<&str>) -> Answer {
    let method = if json.is_some() { "POST" } else { "GET" };
    let body = json.unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Answer::parse(&answer)
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
            assert_eq!(before, None, "{name} comes twice");
        }
        Self { status, headers, body: body.to_owned() }
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
        assert!(!self.headers.contains_key("retry-after"), "{self:?}");
        self.is_problem("Service Unavailable");
    }

    #[track_caller]
    fn is_problem(&self, title: &str) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["title"], title, "{self:?}");
        assert_eq!(problem["status"], self.status, "{self:?}");
    }
}
