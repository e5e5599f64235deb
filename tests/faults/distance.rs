//! Servers that are a round trip away.

use std::any::Any;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Algorithm, Check, Limiter, LimiterBuilder, OnError, Rate, Rule};
use redis::{AsyncConnectionConfig, IntoConnectionInfo, io::tcp::TcpSettings};
use test_support::{Flavor, Proxy, Reply, Server, Stub, unique};
use tokio::runtime::Runtime;

use crate::support::calls::{Told, block_on, call_async, connected, timed, window};
use crate::support::measure::{Late, at_most, measured};
use crate::support::traffic::{Seen, Traffic, percentile};
use crate::support::wait::{ms, secs, until};
use test_stage::machine;

/// A server, and the network between.
pub(crate) struct Far {
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
}

impl Far {
    /// One whose answers are late by this much.
    pub(crate) fn by(delay: Duration) -> Self {
        Self::of(Server::start(Flavor::Installed), delay)
    }

    fn of(server: Server, delay: Duration) -> Self {
        let proxy = Proxy::to(server.port());
        proxy.replies().delay(delay);
        Self { server, proxy }
    }

    pub(crate) fn url(&self) -> String {
        self.proxy.url()
    }

    /// A Sentinel that names it as the primary `main`.
    pub(crate) fn sentinel(&self) -> (Stub, String) {
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
pub(crate) fn seed(masters: &[&Far]) -> (Stub, String) {
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
        thread::sleep(ms(1_200));
    }
    let traffic = Traffic::every(ms(2), limiter, rule);
    thread::sleep(secs(1));
    traffic.stop()
}

/// What a burst must show; its median and what 95 in 100 took at most.
fn is_prompt(what: &str, delay: Duration, seen: &[Seen]) -> Result<(Duration, Duration), Late> {
    at_most(
        100,
        format!("{what}, {delay:?}: of 500 calls not made"),
        500_usize.saturating_sub(seen.len()),
    )?;
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

/// A burst over a connection of the limiter's own is as prompt as one that its caller has made with
/// the option. Where that one is late, the machine is too busy to say anything; where ours is and that
/// one is not, that may be chance once, and is our fault if it is so each time.
///
/// What no machine is too busy for is looked at by unit tests of the store: each of its connections has
/// the option.
fn prompt(what: &str, delay: Duration, limiter: impl Fn() -> (Limiter, Box<dyn Any>)) {
    let runtime = Runtime::new().unwrap();
    let mut late = Vec::new();
    for _ in 0..ATTEMPTS {
        let _quiet = machine::quiet();
        let far = Far::by(delay);
        let (given, (limiter, _what_it_needs)) = (handed_in(far.url(), &runtime), limiter());
        // Both at one time, on the same busy machine.
        let (ours, given) = thread::scope(|threads| {
            let given = threads.spawn(|| burst(&given));
            (is_prompt(what, delay, &burst(&limiter)), given.join().unwrap())
        });
        let Ok((median, p95)) = is_prompt("handed in", delay, &given) else { continue };
        let ours = ours.and_then(|ours| {
            at_most(median * 6 / 5, format!("{what}, {delay:?}: the median"), ours.0)?;
            at_most(p95 * 6 / 5, format!("{what}, {delay:?}: 95 in 100"), ours.1)
        });
        match ours {
            Ok(()) => return,
            Err(error) => late.push(error),
        }
    }
    println!("{what}, {delay:?}: the machine was too busy in {} runs", ATTEMPTS - late.len());
    assert!(late.len() < ATTEMPTS / 2, "late in every run in which the machine was not: {late:#?}");
}

/// How often a burst is made.
const ATTEMPTS: usize = 12;

/// Over a connection with the option, which the caller made.
fn handed_in(url: String, runtime: &Runtime) -> Limiter {
    let info = url.into_connection_info().unwrap();
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
    for delay in [ms(5), ms(20), ms(25)] {
        prompt("by URL", delay, || {
            let far = Far::by(delay);
            (connected(limiter(far.url())), Box::new(far))
        });
    }
}

#[test]
fn b158_small_messages_to_a_primary_behind_sentinels_are_not_held_back() {
    prompt("Sentinel", ms(20), || {
        let far = Far::by(ms(20));
        let (sentinel, url) = far.sentinel();
        (connected(limiter(url)), Box::new((far, sentinel)))
    });
}

#[test]
fn b158_small_messages_to_a_node_of_a_cluster_are_not_held_back() {
    prompt("Cluster", ms(20), || {
        let far = Far::by(ms(20));
        let (seed, url) = seed(&[&far]);
        (connected(limiter(url)), Box::new((far, seed)))
    });
}

#[cfg(feature = "tls")]
#[test]
fn b158_small_messages_over_tls_are_not_held_back() {
    let tls = test_support::Tls::new();
    let server = Server::builder(Flavor::Installed).tls(&tls).start();
    prompt("TLS", ms(20), || {
        let proxy = Proxy::to(server.tls_port());
        proxy.replies().delay(ms(20));
        let url = format!("rediss://localhost:{}", proxy.port());
        (connected(limiter(url).redis_roots(tls.ca_pem())), Box::new(proxy))
    });
}

/// A rule of each algorithm, with windows that do not end during a test.
fn rules() -> [Rule; 5] {
    let (limit, window) = (100, secs(3_600));
    [
        Algorithm::TokenBucket { capacity: 100, refill: Rate::new(1, secs(3_600)) },
        Algorithm::LeakyBucket { capacity: 100, leak: Rate::new(1, secs(3_600)) },
        Algorithm::FixedWindow { limit, window },
        Algorithm::SlidingLog { limit, window },
        Algorithm::SlidingCounter { limit, window, sub_windows: 1 },
    ]
    .map(|algorithm| Rule::named(unique("rule"), algorithm))
}

/// One call of each rule, and one of two rules: each is decided by the server.
fn calls(limiter: &Limiter, rules: &[Rule; 5], key: &str) {
    let both = [Check::new(&rules[0], key), Check::new(&rules[2], key)];
    for rule in rules {
        assert!(block_on(call_async(limiter, rule, key)).by_server());
    }
    assert_eq!(block_on(limiter.check_all(&both)).unwrap().degraded(), None);
}

/// Six calls take six round trips: the server is asked six times, has all scripts, and gets none. How long
/// that takes is up to the machine.
fn take_one_round_trip_each(server: &Server, six_calls: impl FnOnce()) {
    let counts = || ["evalsha", "eval", "script|load"].map(|command| server.calls(command));
    let before = counts();
    six_calls();
    let after = counts();
    let [asked, sent_along, uploads] = [0, 1, 2].map(|i| after[i] - before[i]);
    // Some more are the limiter's own questions, where the machine stood still for a second.
    assert!((6..=6 + 4).contains(&asked), "{asked} round trips");
    assert_eq!((sent_along, uploads), (0, 0));
}

/// How many of the scripts a server has.
fn scripts_on(server: &Server) -> usize {
    let mut words = vec!["SCRIPT", "EXISTS"];
    words.extend(ratelimit_lua::ALL.iter().map(|script| script.sha1));
    server.command::<Vec<bool>>(&words).into_iter().filter(|exists| *exists).count()
}

const ALL: usize = ratelimit_lua::ALL.len();

/// A limiter that waits for as long as it takes.
fn patient(url: impl Into<String>) -> Limiter {
    connected(limiter(url).on_error(OnError::Closed).deadline(secs(10)))
}

/// Once the limiter is ready, the first call of any rule takes one round trip.
#[test]
fn b159_the_first_call_is_as_quick_as_the_others() {
    let far = Far::by(ms(20));
    let limiter = patient(far.url());
    assert_eq!(scripts_on(&far.server), ALL);
    take_one_round_trip_each(&far.server, || calls(&limiter, &rules(), "first"));
}

/// Also of a server that comes back without its scripts.
#[test]
fn b159_the_first_call_after_a_restart_is_as_quick_as_the_others() {
    let server = Server::builder(Flavor::Installed).option("appendonly", "yes").start();
    let mut far = Far::of(server, ms(20));
    let limiter = patient(far.url());
    far.server.kill();
    far.server.start_again();
    until(secs(20), "it is ready", || block_on(limiter.ready()).is_ok());
    assert_eq!(scripts_on(&far.server), ALL);
    take_one_round_trip_each(&far.server, || calls(&limiter, &rules(), "restarted"));
}

/// A call that finds its script missing takes two round trips, and counts once.
#[test]
fn b159_a_call_without_its_script_takes_two_round_trips() {
    const AWAY: Duration = ms(100);
    measured(|| {
        let far = Far::by(AWAY);
        let (limiter, rules) = (patient(far.url()), rules());
        let before = (far.server.calls("evalsha"), far.server.calls("script|load"));
        let mut fastest = secs(10);
        for _ in 0..2 {
            for rule in &rules {
                far.server.command::<()>(&["SCRIPT", "FLUSH"]);
                for is_flushed in [true, false] {
                    let (span, told) = timed(|| block_on(call_async(&limiter, rule, "flushed")));
                    assert!(told.by_server(), "{told:?}");
                    fastest = if is_flushed { fastest.min(span) } else { fastest };
                }
            }
        }
        let after = (far.server.calls("evalsha"), far.server.calls("script|load"));
        for rule in &rules {
            let told = block_on(call_async(&limiter, rule, "flushed"));
            assert_eq!(told, Told::Admitted(100 - 5), "each was counted once");
        }
        assert_eq!(far.server.calls("eval"), 0);
        // Some more are the limiter's own questions, where the machine stood still for a second.
        at_most(30 + 4, "round trips of calls", after.0 - before.0)?;
        at_most(10 + 2 * ALL as u64, "uploads", after.1 - before.1)?;
        // No call took a third.
        at_most(AWAY * 3 - ms(10), "without the script", fastest)
    });
}

#[test]
fn b159_the_first_call_on_each_master_is_as_quick_as_the_others() {
    let masters = [Far::by(ms(20)), Far::by(ms(20)), Far::by(ms(20))];
    let (_seed, url) = seed(&masters.each_ref());
    let limiter = patient(url);
    let counts = |master: &Far| {
        ["evalsha", "eval", "script|load"].map(|command| master.server.calls(command))
    };
    let before = masters.each_ref().map(counts);
    let rules = rules();
    for master in &masters {
        assert_eq!(scripts_on(&master.server), ALL);
    }
    let began = Instant::now();
    for key in 0..10 {
        for rule in &rules {
            assert!(block_on(call_async(&limiter, rule, &key.to_string())).by_server());
        }
    }
    // Each asks a question of its own when the machine stands still for a second.
    let own = 3 * (began.elapsed().as_secs() + 1);
    let after = masters.each_ref().map(counts);
    let asked: Vec<u64> = (0..3).map(|i| after[i][0] - before[i][0]).collect();
    assert!(asked.iter().all(|asked| *asked > 2), "keys everywhere: {asked:?}");
    assert!((50..=50 + own).contains(&asked.iter().sum()), "{asked:?} round trips");
    assert!((0..3).all(|i| after[i][1..] == before[i][1..]), "{after:?}");
}

/// That holds for who hands in a connection too: `ready` asks, and brings the scripts.
#[test]
fn b159_a_connection_that_was_handed_in_is_ready_when_the_scripts_are_there() {
    let runtime = Runtime::new().unwrap();
    let server = Server::start(Flavor::Installed);
    let limiter = handed_in(server.url(), &runtime);
    assert_eq!(scripts_on(&server), 0);
    runtime.block_on(limiter.ready()).unwrap();
    assert_eq!(scripts_on(&server), ALL);

    let stub = Stub::start(|words| match words[0].as_slice() {
        b"SCRIPT" | b"EVALSHA" => Reply::Silence,
        _ => Reply::Usual,
    });
    let limiter = handed_in(stub.url(), &runtime);
    let error = runtime.block_on(limiter.ready()).unwrap_err().to_string();
    assert!(error.contains("timed out"), "{error}");
}

/// Many calls that find a script missing share one upload, and none takes more than two round trips.
#[test]
fn calls_that_find_a_script_missing_share_its_upload() {
    let far = Far::by(ms(20));
    let limiter = connected(limiter(far.url()).on_error(OnError::Closed).deadline(secs(10)));
    far.server.command::<()>(&["SCRIPT", "FLUSH"]);
    let before = (far.server.calls("evalsha"), far.server.calls("script|load"));
    let rule = Arc::new(window(1_000));
    block_on(async {
        let calls = (0..64).map(|_| {
            let (limiter, rule) = (limiter.clone(), Arc::clone(&rule));
            tokio::spawn(async move { call_async(&limiter, &rule, "key").await })
        });
        for call in calls.collect::<Vec<_>>() {
            let told = call.await.unwrap();
            assert!(told.by_server(), "{told:?}");
        }
    });
    assert_eq!(far.server.calls("script|load") - before.1, 1);
    assert!(far.server.calls("evalsha") - before.0 <= 128);
    assert_eq!(far.server.calls("eval"), 0);
    let told = block_on(call_async(&limiter, &rule, "key"));
    assert_eq!(told, Told::Admitted(1_000 - 65), "each was counted once");
}

/// A new primary has the scripts before the first call asks it.
#[test]
fn a_new_primary_has_the_scripts() {
    let (old, new) = (Server::start(Flavor::Installed), Server::start(Flavor::Installed));
    let proxy = Proxy::to(old.port());
    let limiter = connected(limiter(proxy.url()).deadline(secs(10)));
    assert_eq!((scripts_on(&old), scripts_on(&new)), (ALL, 0));
    proxy.point_to(new.port());
    proxy.cut();
    until(secs(5), "it is ready", || block_on(limiter.ready()).is_ok() && new.calls("evalsha") > 0);
    assert_eq!(scripts_on(&new), ALL);
}
