//! A store that does not answer is not asked by everybody: one gentle question at a time.

use std::time::{Duration, Instant};

use ratelimit_kit::OnError;
use test_support::{Call, Flavor, Reply, Server, Stub};

use crate::support::calls::{Told, on, window};
use crate::support::measure::{Late, at_most, measured};
use crate::support::traffic::{Traffic, most_within};
use crate::support::wait::{ms, secs, until};

/// 200 calls a second are decided without the store. From the third second on hardly a question
/// reaches it, and once it answers it decides again. Shorter than the spec: 5 seconds instead of 10,
/// since what is counted is counted per second.
#[test]
fn b118_the_circuit_opens_probes_gently_and_closes() {
    let silent = || Stub::start(|_| Reply::Silence);
    let limit = Limit { per_second: 2, outstanding: 1 };
    measured(|| opens_and_closes(silent, &limit));
}

/// The same for one that lets clients connect and answers no check: there are gateways that answer
/// for a server that is gone. Here each attempt is two commands, the last of which is like a check.
#[test]
fn b118_the_circuit_opens_also_when_only_checks_are_not_answered() {
    let silent = || {
        Stub::start(|words| match words[0].as_slice() {
            b"EVALSHA" => Reply::Silence,
            _ => Reply::Usual,
        })
    };
    let limit = Limit { per_second: 9, outstanding: 1 };
    measured(|| opens_and_closes(silent, &limit));
}

/// How many commands may reach the server, and be without an answer at one time.
struct Limit {
    per_second: usize,
    outstanding: usize,
}

fn opens_and_closes(silent: impl Fn() -> Stub, limit: &Limit) -> Result<(), Late> {
    let stub = silent();
    let limiter = on(stub.url()).deadline(ms(100)).on_error(OnError::Open).build().unwrap();
    let start = Instant::now();
    let traffic = Traffic::every(ms(5), &limiter, window(5));
    std::thread::sleep(secs(5));
    let probes: Vec<Call> =
        stub.everything().into_iter().filter(|call| call.at >= start + secs(2)).collect();
    assert!(!probes.is_empty(), "nobody asks any more");
    let times: Vec<Instant> = probes.iter().map(|call| call.at).collect();
    let most = most_within(secs(1), &times);
    at_most(limit.per_second, "commands within a second", most)?;
    let outstanding = Call::most_outstanding(&probes);
    at_most(limit.outstanding, "commands at one time", outstanding)?;

    stub.stop();
    let _server = Server::builder(Flavor::Installed).port(stub.port()).start();
    let there = Instant::now();
    let refused = |told: &Told| matches!(told, Told::Refused(_));
    let took = until(secs(10), "a refusal", || traffic.was_told(there, refused));
    at_most(ms(2_500), "until the server decides", took)?;
    let seen = traffic.stop();
    let longest = seen.iter().map(|call| call.took).max().unwrap();
    at_most(ms(150), "the longest call", longest)?;
    let before: Vec<&Told> =
        seen.iter().filter(|c| c.at < there - Duration::from_secs(1)).map(|c| &c.told).collect();
    assert!(before.len() > 500 && before.iter().all(|told| **told == Told::Open));
    Ok(())
}
