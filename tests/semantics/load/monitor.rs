//! What a Redis server says of the calls about one key.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use test_support::{Flavor, Server, unique};

/// A connection of the server that tests share, in the MONITOR mode.
pub(super) struct Monitor {
    last: String,
    thread: JoinHandle<Seen>,
}

/// When scripts were called with a key, and when they wrote it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) calls: Vec<Duration>,
    pub(super) admissions: Vec<Duration>,
}

impl Monitor {
    /// Begins to listen to what concerns this key, of any rule.
    pub(super) fn start(key: &str) -> Self {
        let key = format!(":{key}\"");
        let port = Server::shared(Flavor::Installed).port();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        assert_eq!(lines.next().as_deref(), Some("+OK"));
        let last = unique("last");
        let thread = {
            let last = last.clone();
            thread::spawn(move || {
                let mut seen = Seen::default();
                for line in lines.take_while(|line| !line.contains(&last)) {
                    if line.contains(&key) {
                        seen.line(&line);
                    }
                }
                seen
            })
        };
        Self { last, thread }
    }

    /// Ends when all that came before has been heard.
    pub(super) fn stop(self) -> Seen {
        Server::shared(Flavor::Installed).command::<String>(&["ECHO", &self.last]);
        self.thread.join().unwrap()
    }
}

impl Seen {
    /// A line such as `+1339518083.107412 [0 lua] "SET" "key" "value"`.
    fn line(&mut self, line: &str) {
        let mut words = line.trim_start_matches('+').splitn(4, ' ');
        let (seconds, micros) = words.next().unwrap().split_once('.').unwrap();
        let micros: u64 = format!("{seconds}{micros}").parse().unwrap();
        let at = Duration::from_micros(micros);
        let (_db, who) = (words.next().unwrap(), words.next().unwrap());
        let command = words.next().unwrap();
        match who {
            "lua]" if command.starts_with("\"SET\"") => self.admissions.push(at),
            "lua]" => {}
            _ if command.starts_with("\"EVALSHA\"") => self.calls.push(at),
            other => panic!("{other} {command}"),
        }
    }
}
