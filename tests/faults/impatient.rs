//! Callers who leave before the server can have answered, as strangers do who close their connections:
//! they take the store away from nobody else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{Limiter, OnError, Rule};
use test_support::{Flavor, Proxy, Reply, Server, Stub};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::distance::{Far, seed};
use crate::support::calls::{Told, by_default, call, call_async, connected, window};
use crate::support::measure::{Late, at_most, measured};
use crate::support::wait::{ms, secs, until};

/// Eight tasks, each of which makes a call, drops it after 1 ms, pauses, and begins again.
struct Impatient {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<u64>>,
    runtime: Runtime,
}

impl Impatient {
    fn start(limiter: &Limiter, rule: &Arc<Rule>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let task = |number: u32| {
            let (limiter, rule, stop) = (limiter.clone(), Arc::clone(rule), Arc::clone(&stop));
            runtime.spawn(async move {
                let mut left = 0;
                while !stop.load(Ordering::Relaxed) {
                    let key = number.to_string();
                    left +=
                        u64::from(timeout(ms(1), call_async(&limiter, &rule, &key)).await.is_err());
                    sleep(ms(10)).await;
                }
                left
            })
        };
        let tasks = (0..8).map(task).collect();
        Self { stop, tasks, runtime }
    }

    /// How many have left, at least so many.
    fn stop(self, least: u64) {
        self.stop.store(true, Ordering::Relaxed);
        let left: u64 = self.runtime.block_on(async {
            let mut left = 0;
            for task in self.tasks {
                left += task.await.unwrap();
            }
            left
        });
        assert!(left >= least, "{left} callers have left");
        let metrics = self.runtime.metrics();
        until(secs(1), "nothing is left of them", || metrics.num_alive_tasks() == 0);
    }
}

/// Patient calls for a while, one every 200 ms: each is decided by the server.
fn patient(limiter: &Limiter, rule: &Rule, span: Duration) -> Result<(), Late> {
    let start = Instant::now();
    let mut alone = 0;
    while start.elapsed() < span {
        alone += u32::from(!call(limiter, rule, "patient").by_server());
        thread::sleep(ms(200));
    }
    at_most(0, "patient calls that the server did not decide", alone)
}

/// A server that is 3 ms away, directly, behind Sentinels, or a node of a cluster. Half as long as the
/// spec has it.
#[test]
fn b128_impatient_callers_do_not_take_the_store_away_from_others() {
    for way in ["directly", "behind Sentinels", "in a cluster"] {
        measured(|| {
            let far = Far::by(ms(3));
            let (_stub, url) = match way {
                "behind Sentinels" => far.sentinel(),
                "in a cluster" => seed(&[&far]),
                _ => (Stub::start(|_| Reply::Usual), far.url()),
            };
            let limiter = connected(by_default(url));
            let rule = Arc::new(window(1_000_000));
            patient(&limiter, &rule, ms(300))?;
            let before = far.proxy.connections().len();
            let impatient = Impatient::start(&limiter, &rule);
            let seen = patient(&limiter, &rule, secs(4));
            impatient.stop(100);
            let more = far.proxy.connections().len() - before;
            assert!(seen.is_err() || more == 0, "{way}: {more} new connections");
            seen
        });
    }
}

/// Neither do they when the connection was just made: nobody who can leave tries it out.
#[test]
fn impatient_callers_do_not_take_a_new_connection_away() {
    measured(|| {
        let far = Far::by(ms(3));
        let limiter = connected(by_default(far.url()));
        let rule = Arc::new(window(1_000_000));
        let impatient = Impatient::start(&limiter, &rule);
        let mut seen = Ok(());
        for _ in 0..3 {
            // They find that it is lost before a patient call does.
            far.proxy.lose();
            thread::sleep(secs(1));
            far.proxy.pass();
            until(secs(3), "a decision", || call(&limiter, &rule, "patient").by_server());
            let connections = far.proxy.connections().len();
            seen = seen.and(patient(&limiter, &rule, secs(1)));
            let more = far.proxy.connections().len() - connections;
            seen = seen.and(at_most(0, "new connections", more));
        }
        impatient.stop(100);
        seen
    });
}

/// A black hole is found though no caller has the patience to wait for an answer.
#[test]
fn a_black_hole_is_found_when_no_caller_is_patient() {
    measured(|| {
        let far = Far::by(ms(3));
        let limiter = connected(by_default(far.url()));
        let rule = Arc::new(window(1_000_000));
        let impatient = Impatient::start(&limiter, &rule);
        thread::sleep(ms(300));
        let before = far.proxy.connections().len();
        far.proxy.lose();
        let lost = Instant::now();
        until(secs(3), "another connection", || far.proxy.connections().len() > before);
        let took = lost.elapsed();
        // While it is known to be lost calls do not wait for it.
        until(secs(1), "an error", || matches!(call(&limiter, &rule, "key"), Told::Failed(_)));
        impatient.stop(100);
        at_most(ms(600), "until it is given up", took)
    });
}

/// There are gateways that answer everything but checks for a server that is gone.
#[test]
fn a_gateway_without_a_server_is_found_when_no_caller_is_patient() {
    let stub = Stub::start(|words| match words[0].as_slice() {
        b"EVALSHA" => Reply::bulk([1]),
        _ => Reply::Usual,
    });
    let limiter = connected(by_default(stub.url()));
    stub.answer(|words| match words[0].as_slice() {
        b"EVALSHA" => Reply::Silence,
        _ => Reply::Usual,
    });
    let rule = Arc::new(window(5));
    let impatient = Impatient::start(&limiter, &rule);
    until(secs(5), "other connections", || stub.connections().len() > 2);
    let asked = stub.calls("EVALSHA").len();
    thread::sleep(secs(2));
    let asked = stub.calls("EVALSHA").len() - asked;
    assert!(asked <= 20, "{asked} questions");
    impatient.stop(50);
}

/// Who leaves while a script is missing takes its upload away from nobody.
#[test]
fn impatient_callers_do_not_take_an_upload_away() {
    let server = Server::start(Flavor::Installed);
    let proxy = Proxy::to(server.port());
    let limiter = connected(by_default(proxy.url()).on_error(OnError::Closed).deadline(secs(5)));
    let rule = Arc::new(window(1_000_000));
    proxy.replies().delay(ms(3));
    let impatient = Impatient::start(&limiter, &rule);
    for _ in 0..20 {
        let before = server.calls("script|load");
        server.command::<()>(&["SCRIPT", "FLUSH"]);
        let told = call(&limiter, &rule, "patient");
        assert!(told.by_server(), "{told:?}");
        thread::sleep(ms(30));
        let uploads = server.calls("script|load") - before;
        // All of them come back at once when the limiter itself finds one missing.
        let all = ratelimit_lua::ALL.len() as u64;
        assert!((1..=3 + all).contains(&uploads), "{uploads} uploads");
    }
    impatient.stop(20);
    assert_eq!(proxy.connections().len(), 1);
}
