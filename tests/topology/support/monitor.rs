//! What a server is asked.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use test_support::{Server, unique};

/// A connection in the MONITOR mode.
pub(crate) struct Monitor<'s> {
    server: &'s Server,
    lines: BufReader<TcpStream>,
}

impl<'s> Monitor<'s> {
    pub(crate) fn start(server: &'s Server) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        assert_eq!(first, "+OK\r\n");
        Self { server, lines }
    }

    /// What clients have sent since the start that contains a word; not what scripts did.
    pub(crate) fn stop(self, word: &str) -> Vec<String> {
        let last = unique("last");
        self.server.command::<String>(&["ECHO", &last]);
        let lines = self.lines.lines().map(Result::unwrap);
        lines
            .take_while(|line| !line.contains(&last))
            .filter(|line| line.contains(word) && !line.contains(" lua] "))
            .collect()
    }
}
