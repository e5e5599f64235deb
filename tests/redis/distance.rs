//! Servers that are a round trip away.

use std::time::Duration;

use ratelimit_kit::{Algorithm, Limiter, LimiterBuilder, Rate, Rule};
use redis::{AsyncConnectionConfig, IntoConnectionInfo, io::tcp::TcpSettings};
use test_support::{Flavor, Proxy, Reply, Server, Stub, unique};
use tokio::runtime::Runtime;

use crate::calls::{Told, block_on, call_async, connected};
use crate::measure::{Late, at_most, measured};
use crate::traffic::{Seen, Traffic, percentile};
use crate::wait::{ms, secs};

/// A server, and the network between.
struct Far {
    _server: Server,
    proxy: Proxy,
}

impl Far {
    /// One whose answers are late by this much.
    fn by(delay: Duration) -> Self {
        let server = Server::start(Flavor::Installed);
        let proxy = Proxy::to(server.port());
        proxy.replies().delay(delay);
        Self { _server: server, proxy }
    }

    fn url(&self) -> String {
        self.proxy.url()
    }

    /// A Sentinel that names it as the primary `main`.
    fn sentinel(&self) -> (Stub, String) {
        let port = self.proxy.port().to_string();
        let stub = Stub::start(move |words| match words[0].as_slice() {
            b"SENTINEL" if words[1].eq_ignore_ascii_case(b"MASTER") => Reply::array([]),
            b"SENTINEL" => Reply::array([Reply::bulk("127.0.0.1"), Reply::bulk(&port)]),
            _ => Reply::Usual,
        });
        let url = format!("redis+sentinel://127.0.0.1:{}/main", stub.port());
        (stub, url)
    }
}

/// A node of a cluster that says that these servers share its slots, in this order.
fn seed(masters: &[&Far]) -> (Stub, String) {
    let ports: Vec<u16> = masters.iter().map(|far| far.proxy.port()).collect();
    let stub = Stub::start(move |words| match words[0].as_slice() {
        b"CLUSTER" => {
            let share = 16_384 / i64::try_from(ports.len()).unwrap();
            let ranges = ports.iter().zip(0..).map(|(port, place)| {
                let is_last = Some(port) == ports.last();
                let last = if is_last { 16_383 } else { (place + 1) * share - 1 };
                let owner = [Reply::bulk("127.0.0.1"), Reply::integer((*port).into())];
                let first = Reply::integer(place * share);
                Reply::array([first, Reply::integer(last), Reply::array(owner)])
            });
            Reply::array(ranges)
        }
        _ => Reply::Usual,
    });
    let url = format!("redis+cluster://127.0.0.1:{}", stub.port());
    (stub, url)
}

/// All defaults, with keys of its own.
fn limiter(url: impl Into<String>) -> LimiterBuilder {
    Limiter::builder().redis(url).prefix(unique("redis"))
}

/// A bucket that is not refilled during a test.
fn fifty() -> Rule {
    let refill = Rate::new(1, secs(86_400));
    Rule::named(unique("rule"), Algorithm::TokenBucket { capacity: 50, refill })
}

/// Five hundred calls of one key, one every 2 ms, whether or not earlier ones are done.
fn burst(limiter: &Limiter) -> Vec<Seen> {
    let rule = fifty();
    for _ in 0..2 {
        // One that is late is fine here.
        block_on(call_async(limiter, &rule, "warm"));
        std::thread::sleep(ms(1_200));
    }
    let traffic = Traffic::every(ms(2), limiter, rule);
    std::thread::sleep(secs(1));
    traffic.stop()
}

/// What a burst must show; its median and what 95 in 100 took at most.
fn is_prompt(what: &str, delay: Duration, seen: &[Seen]) -> Result<(Duration, Duration), Late> {
    assert!(seen.len() > 400, "{}", seen.len());
    let alone = seen.iter().filter(|call| !call.told.by_server()).count();
    at_most(0, format!("{what}, {delay:?}: decided without the server"), alone)?;
    let is_admitted = |call: &&Seen| matches!(call.told, Told::Admitted(_) | Told::Local(true));
    assert_eq!(seen.iter().filter(is_admitted).count(), 50, "{what}, {delay:?}");
    let (median, p95) = (percentile(50, seen), percentile(95, seen));
    println!("{what}, {delay:?}: median {median:?}, 95 in 100 {p95:?}");
    at_most(delay + ms(5), format!("{what}, {delay:?}: the median"), median)?;
    at_most(delay + ms(12), format!("{what}, {delay:?}: 95 in 100"), p95)?;
    Ok((median, p95))
}

fn prompt(what: &str, delay: Duration, builder: LimiterBuilder) -> Result<(), Late> {
    is_prompt(what, delay, &burst(&connected(builder))).map(|_| ())
}

/// Over a connection with the option, which the caller made.
fn handed_in(far: &Far, runtime: &Runtime) -> Limiter {
    let info = far.url().into_connection_info().unwrap();
    let client =
        redis::Client::open(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)));
    let config = AsyncConnectionConfig::new();
    let connection = runtime
        .block_on(client.unwrap().get_multiplexed_async_connection_with_config(&config))
        .unwrap();
    Limiter::builder().redis_connection(connection).prefix(unique("redis")).build().unwrap()
}

/// Many small calls on the way at one time do not wait for each other: neither is one that is ready
/// to be sent held back until the one before it is acknowledged.
#[test]
fn b158_small_messages_are_not_held_back() {
    let runtime = Runtime::new().unwrap();
    for delay in [ms(5), ms(20), ms(25)] {
        measured(|| {
            let far = Far::by(delay);
            let given = is_prompt("handed in", delay, &burst(&handed_in(&far, &runtime)))?;
            let by_url = is_prompt("by URL", delay, &burst(&connected(limiter(far.url()))))?;
            at_most(given.0 * 6 / 5, format!("{delay:?}: the median by URL"), by_url.0)?;
            at_most(given.1 * 6 / 5, format!("{delay:?}: 95 in 100 by URL"), by_url.1)
        });
    }
}

#[test]
fn b158_small_messages_to_a_primary_behind_sentinels_are_not_held_back() {
    measured(|| {
        let far = Far::by(ms(20));
        let (_sentinel, url) = far.sentinel();
        prompt("Sentinel", ms(20), limiter(url))
    });
}

#[test]
fn b158_small_messages_to_a_node_of_a_cluster_are_not_held_back() {
    measured(|| {
        let far = Far::by(ms(20));
        let (_seed, url) = seed(&[&far]);
        prompt("Cluster", ms(20), limiter(url))
    });
}

#[cfg(feature = "tls")]
#[test]
fn b158_small_messages_over_tls_are_not_held_back() {
    let tls = test_support::Tls::new();
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    measured(|| {
        let proxy = Proxy::to(server.tls_port());
        proxy.replies().delay(ms(20));
        let url = format!("rediss://localhost:{}", proxy.port());
        prompt("TLS", ms(20), limiter(url).redis_roots(tls.ca_pem()))
    });
}
