//! wrk, from Debian's packages.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use crate::lacking;
use crate::process::{Process, guarded};
use crate::scratch::Scratch;

const PROGRAM: &str = "/usr/bin/wrk";

/// What wrk says of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrk {
    requests: u64,
    refused: u64,
    socket_errors: u64,
}

impl Wrk {
    /// Asks for a page as often as it can, over so many connections, for so many seconds.
    pub fn run(address: SocketAddr, path: &str, connections: usize, seconds: u64) -> Self {
        if !Path::new(PROGRAM).exists() {
            lacking::end("there is no wrk");
        }
        let scratch = Scratch::new();
        let written = scratch.path().join("output");
        let output = File::create(&written).unwrap();
        let mut command = guarded(Path::new(PROGRAM));
        command.args(["--threads", "2", "--connections", &connections.to_string()]);
        // What is slow on a busy machine is not lost.
        command.args(["--duration", &format!("{seconds}s"), "--timeout", "60s"]);
        command.arg(format!("http://{address}{path}"));
        command.stderr(output.try_clone().unwrap()).stdout(output);
        let status = Process::start(command).unwrap().end();
        let text = fs::read_to_string(&written).unwrap();
        assert!(status.success(), "wrk ended with {status}: {text}");
        let (wrk, lasted) = Self::parse(&text);
        assert!(lasted >= Duration::from_secs(seconds), "wrk stopped early: {text}");
        wrk
    }

    /// How many requests were answered.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// How many of the answers were neither 2xx nor 3xx.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// How often a connection was not made, broke, or was silent for too long.
    pub fn socket_errors(&self) -> u64 {
        self.socket_errors
    }

    /// Every line is one that is known, or the test fails: a number that is not read is not there.
    fn parse(text: &str) -> (Self, Duration) {
        let mut answered = None;
        let mut wrk = Self { requests: 0, refused: 0, socket_errors: 0 };
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["Running" | "Latency" | "Req/Sec", ..]
                | [_, "threads", "and", _, "connections"]
                | ["Thread", "Stats", ..]
                | ["Requests/sec:" | "Transfer/sec:", _] => {}
                [requests, "requests", "in", lasted, _, "read"] => {
                    wrk.requests = number(requests);
                    let before = answered.replace(duration(lasted));
                    assert_eq!(before, None, "{text}");
                }
                [
                    "Socket",
                    "errors:",
                    "connect",
                    connect,
                    "read",
                    read,
                    "write",
                    write,
                    "timeout",
                    timeout,
                ] => wrk.socket_errors = [connect, read, write, timeout].map(number).iter().sum(),
                ["Non-2xx", "or", "3xx", "responses:", refused] => wrk.refused = number(refused),
                _ => panic!("wrk says {line:?}: {text}"),
            }
        }
        (wrk, answered.unwrap_or_else(|| panic!("wrk does not say how many: {text}")))
    }
}

fn number(text: &str) -> u64 {
    text.trim_end_matches(',').parse().unwrap_or_else(|e| panic!("{text:?} of wrk: {e}"))
}

/// Such as `10.01s,`; from a minute on it is minutes.
fn duration(text: &str) -> Duration {
    let number = |unit: &str| text.strip_suffix(unit).and_then(|number| number.parse().ok());
    let seconds: Option<f64> = number("s,").or_else(|| Some(number("m,")? * 60.0));
    Duration::from_secs_f64(seconds.unwrap_or_else(|| panic!("{text:?} of wrk is no time")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Wrk;

    const SAID: &str = "\
Running 10s test @ http://127.0.0.1:41234/counted
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    14.05ms    3.10ms  51.23ms   86.33%
    Req/Sec     3.57k   462.35     4.50k    68.50%
  71234 requests in 10.03s, 26.91MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 70234
Requests/sec:   7102.10
Transfer/sec:      2.68MB
";

    #[test]
    fn what_wrk_says() {
        let (wrk, lasted) = Wrk::parse(SAID);
        assert_eq!(wrk, Wrk { requests: 71_234, refused: 70_234, socket_errors: 10 });
        assert_eq!(lasted, Duration::from_millis(10_030));
        let is_optional = |line: &&str| line.contains("Socket") || line.contains("Non-2xx");
        let short: Vec<&str> = SAID.lines().filter(|line| !is_optional(line)).collect();
        let (wrk, _) = Wrk::parse(&short.join("\n"));
        assert_eq!(wrk, Wrk { requests: 71_234, refused: 0, socket_errors: 0 });
    }

    #[test]
    #[should_panic(expected = "wrk says")]
    fn what_wrk_never_said() {
        Wrk::parse(&SAID.replace("Socket errors", "Broken sockets"));
    }
}
