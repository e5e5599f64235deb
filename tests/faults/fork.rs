//! What becomes of limiters when their process forks.
//!
//! Each case has a process of its own, which forks in the middle of its test.

use std::process;
use std::time::Duration;

use ratelimit_kit::{Limiter, OnError, RateLimitError, Rule, rate_limit};
use test_support::{Flavor, Link, Node, Server, fork};

use crate::support::calls::{Told, block_on, by_default, call, on, timed, window};
use crate::support::wait::{ms, secs};
use test_stage::machine;

/// The longest call: the deadline that is the default, and what the machine may add.
const LONGEST: Duration = ms(100);

/// In the child every call ends in time, by the parent's limiter as by one of its own, and the
/// parent goes on as if nothing had been.
#[test]
fn b127_calls_after_a_fork() {
    if let Some(link) = Link::attach() {
        return b127_node(link);
    }
    let server = Server::start(Flavor::Installed);
    for case in ["parent's", "own", "none before", "embedded"] {
        // A machine that is busy may be late; then calls are decided by the policy.
        let mut seen = Vec::new();
        let is_right = (0..5).any(|_| {
            let _quiet = machine::quiet();
            let mut node = Node::builder("fork::b127_calls_after_a_fork")
                .env("FORK_CASE", case)
                .env("FORK_URL", &server.url())
                .may_fork()
                .start();
            let child = Calls::parse(&node.recv());
            node.send("go on");
            let parent = Calls::parse(&node.recv());
            let expected = if case == "none before" { "" } else { "server: admit deny deny" };
            let is_right = child.told == "server: admit admit deny" && parent.told == expected;
            let is_in_time = child.longest <= LONGEST && parent.longest <= LONGEST;
            seen.push((child, parent));
            is_right && is_in_time
        });
        assert!(is_right, "{case}, five times: {seen:#?}");
    }
}

/// What three calls were told, and how long the longest took.
#[derive(Debug)]
struct Calls {
    longest: Duration,
    told: String,
}

impl Calls {
    fn make(limiter: &Limiter, rule: &Rule, key: &str) -> Self {
        let calls = [(); 3].map(|()| timed(|| call(limiter, rule, key)));
        let is_servers = calls.iter().all(|(_, told)| told.by_server());
        let words = calls.each_ref().map(|(_, told)| match told {
            Told::Admitted(_) | Told::Local(true) => "admit",
            Told::Refused(_) | Told::Local(false) => "deny",
            Told::Open => "open",
            Told::Failed(_) => "fail",
        });
        let who = if is_servers { "server: " } else { "" };
        let longest = calls.iter().map(|(took, _)| *took).max().unwrap();
        Self { longest, told: format!("{who}{}", words.join(" ")) }
    }

    fn parse(line: &str) -> Self {
        let (longest, told) = line.split_once(' ').unwrap();
        Self { longest: Duration::from_micros(longest.parse().unwrap()), told: told.to_owned() }
    }

    fn send(&self, link: &mut Link) {
        link.send(format!("{} {}", self.longest.as_micros(), self.told));
    }
}

fn b127_node(mut link: Link) {
    let case = std::env::var("FORK_CASE").unwrap();
    let limiter = || match case.as_str() {
        "embedded" => Limiter::builder().build().unwrap(),
        _ => by_default(url()).on_error(OnError::Open).build().unwrap(),
    };
    let rule = window(2);
    let parents = (case != "none before").then(|| {
        let limiter = limiter();
        limiter.ready_blocking().unwrap();
        assert_eq!(call(&limiter, &rule, "parent"), Told::Admitted(1));
        limiter
    });
    if fork() {
        let childs = match &parents {
            Some(parents) if case != "own" => parents,
            _ => &limiter(),
        };
        Calls::make(childs, &rule, "child").send(&mut link);
        // What is the child's is dropped, and what is the parent's as well.
        drop(parents);
        process::exit(0);
    }
    link.recv();
    match parents {
        Some(limiter) => Calls::make(&limiter, &rule, "parent").send(&mut link),
        None => link.send("0 "),
    }
    // The node ends when the test has read that.
    link.recv();
}

fn url() -> String {
    std::env::var("FORK_URL").unwrap()
}

#[rate_limit(name = "fork-line", algo = leaky_bucket, capacity = 5, leak = 20, wait = "2s", limiter = limiter)]
async fn turn(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

/// Waiting needs a timer, and a child has none of its parent's.
#[test]
fn waits_end_in_the_child() {
    if let Some(mut link) = Link::attach() {
        let embedded = Limiter::builder().build().unwrap();
        let redis = on(url()).build().unwrap();
        let turns = || block_on(async { turn(&embedded).await.and(turn(&embedded).await) });
        turns().unwrap();
        redis.ready_blocking().unwrap();
        if fork() {
            let (took, told) = timed(turns);
            link.send(told.is_ok() && took >= ms(40));
            link.send(redis.ready_blocking().is_ok());
            process::exit(0);
        }
        link.recv();
        link.send(turns().is_ok());
        link.recv();
        return;
    }
    let server = Server::start(Flavor::Installed);
    let mut node = Node::builder("fork::waits_end_in_the_child")
        .env("FORK_URL", &server.url())
        .may_fork()
        .start();
    assert_eq!([node.recv(), node.recv()], ["true", "true"], "the turns, and ready");
    node.send("go on");
    assert_eq!(node.recv(), "true", "the parent's turns");
}

/// A program that becomes a daemon after it has set its limiter up goes on in the child, and
/// the parent ends.
#[test]
fn a_daemon_is_limited_by_the_server() {
    if let Some(mut link) = Link::attach() {
        let rule = window(3);
        let limiter = on(url()).build().unwrap();
        assert_eq!(call(&limiter, &rule, "key"), Told::Admitted(2));
        limiter.clone().install().unwrap();
        // A daemon forks twice.
        if !fork() || !fork() {
            process::exit(0);
        }
        let installed = Limiter::installed().unwrap();
        link.send(format!("{:?}", [(); 3].map(|()| call(installed, &rule, "key").by_server())));
        link.send(matches!(call(installed, &rule, "key"), Told::Refused(_)));
        process::exit(0);
    }
    let server = Server::start(Flavor::Installed);
    let mut node = Node::builder("fork::a_daemon_is_limited_by_the_server")
        .env("FORK_URL", &server.url())
        .may_fork()
        .start();
    assert_eq!(node.recv(), "[true, true, true]");
    assert_eq!(node.recv(), "true");
}

/// A connection that was handed in is the parent's, and so is the runtime that drives it: in the
/// child rules decide by `on_error`, at once.
#[test]
fn a_connection_that_was_handed_in_stays_with_the_parent() {
    if let Some(mut link) = Link::attach() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let client = redis::Client::open(url()).unwrap();
        let connection = runtime.block_on(client.get_multiplexed_async_connection()).unwrap();
        let limiter = Limiter::builder().redis_connection(connection).deadline(secs(5));
        let limiter = limiter.on_error(OnError::Open).build().unwrap();
        let rule = window(2);
        let call = || block_on(crate::support::calls::call_async(&limiter, &rule, "key"));
        assert_eq!(call(), Told::Admitted(1));
        if fork() {
            let (took, told) = timed(call);
            link.send(format!("{told:?} {}", took < secs(2)));
            process::exit(0);
        }
        link.recv();
        link.send(format!("{:?}", call()));
        link.recv();
        return;
    }
    let server = Server::start(Flavor::Installed);
    let mut node = Node::builder("fork::a_connection_that_was_handed_in_stays_with_the_parent")
        .env("FORK_URL", &server.url())
        .may_fork()
        .start();
    assert_eq!(node.recv(), "Open true");
    node.send("go on");
    assert_eq!(node.recv(), "Admitted(0)");
}
