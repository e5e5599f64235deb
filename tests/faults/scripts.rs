//! Servers that have lost the scripts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use ratelimit_kit::{Check, Limiter, Rule, StoreError};
use test_support::{Flavor, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::support::calls::{Told, call, connected, on, window};
use crate::support::wait::{ms, secs, until};
use test_stage::machine;

const LIMIT: u64 = 1_000_000;
const TASKS: usize = 200;

/// Tasks that call in a loop until they are told to stop, and what they were told.
struct Loops {
    counts: Arc<Counts>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    stop: AtomicBool,
    admitted: AtomicU64,
    failed: AtomicU64,
}

impl Loops {
    fn start(runtime: &Runtime, limiter: &Limiter, rule: &Arc<Rule>) -> Self {
        let counts = Arc::<Counts>::default();
        let task = |_| {
            let (limiter, rule, counts) = (limiter.clone(), Arc::clone(rule), Arc::clone(&counts));
            runtime.spawn(async move {
                while !counts.stop.load(Ordering::Relaxed) {
                    match crate::support::calls::call_async(&limiter, &rule, "key").await {
                        Told::Admitted(_) => counts.admitted.fetch_add(1, Ordering::Relaxed),
                        Told::Failed(StoreError::Connection { .. }) => {
                            tokio::time::sleep(ms(2)).await;
                            counts.failed.fetch_add(1, Ordering::Relaxed)
                        }
                        Told::Failed(StoreError::Server { reason })
                            if reason.contains("LOADING") =>
                        {
                            counts.failed.fetch_add(1, Ordering::Relaxed)
                        }
                        other => panic!("{other:?}"),
                    };
                }
            })
        };
        Self { tasks: (0..TASKS).map(task).collect(), counts }
    }

    fn admitted(&self) -> u64 {
        self.counts.admitted.load(Ordering::Relaxed)
    }

    fn failed(&self) -> u64 {
        self.counts.failed.load(Ordering::Relaxed)
    }

    /// How many were admitted, and how many failed.
    fn stop(self, runtime: &Runtime) -> (u64, u64) {
        self.counts.stop.store(true, Ordering::Relaxed);
        runtime.block_on(async {
            for task in self.tasks {
                task.await.unwrap();
            }
        });
        let Counts { admitted, failed, .. } = &*self.counts;
        (admitted.load(Ordering::Relaxed), failed.load(Ordering::Relaxed))
    }
}

/// What is used of a key, of which one more is then.
fn used(limiter: &Limiter, rule: &Rule) -> u64 {
    let Told::Admitted(remaining) = call(limiter, rule, "key") else { panic!() };
    LIMIT - remaining - 1
}

/// A server whose scripts are flushed ten times a second decides every call, once: each time a
/// script is uploaded by one call, for all of them. A server that is restarted decides
/// nothing while it is down, and everything afterwards. (Uploads are counted by the server itself;
/// MONITOR would show the same, and slow it down.)
#[test]
fn b057_script_flush_and_restart_under_load() {
    let _loud = machine::loud();
    let mut server = Server::builder(Flavor::Installed).option("appendonly", "yes").start();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // How long a call may take is not the point, and the machine is busy.
    let limiter = connected(on(server.url()).deadline(secs(10)));
    let rule = Arc::new(window(LIMIT));

    let loops = Loops::start(&runtime, &limiter, &rule);
    until(secs(5), "calls", || loops.admitted() > 0);
    let mut uploads = server.calls("script|load");
    assert_eq!(uploads, ALL, "connecting has uploaded each script once");
    let mut most = 0;
    for _ in 0..30 {
        let before = loops.admitted();
        server.command::<()>(&["SCRIPT", "FLUSH"]);
        thread::sleep(ms(100));
        until(secs(5), "calls", || loops.admitted() > before);
        let now = server.calls("script|load");
        most = most.max(now - uploads);
        uploads = now;
    }
    let (admitted, failed) = loops.stop(&runtime);
    assert_eq!(failed, 0);
    assert_eq!(used(&limiter, &rule), admitted);
    assert!((1..=10).contains(&most), "{most} uploads for one flush");
    println!("{admitted} calls, at most {most} uploads for one flush");

    let rule = Arc::new(window(LIMIT));
    let loops = Loops::start(&runtime, &limiter, &rule);
    until(secs(5), "calls", || loops.admitted() > 0);
    server.shut_down();
    until(secs(5), "failures", || loops.failed() > 0);
    let before = loops.admitted();
    let start = Instant::now();
    server.start_again();
    until(secs(10), "calls", || loops.admitted() > before);
    println!("back after {:?}", start.elapsed());
    thread::sleep(ms(200));
    let (admitted, failed) = loops.stop(&runtime);
    // Of those that were cut off nobody knows whether they were counted.
    let used = used(&limiter, &rule);
    assert!((admitted..=admitted + failed).contains(&used), "{used} of {admitted} + {failed}");
}

/// How many scripts there are.
const ALL: u64 = ratelimit_lua::ALL.len() as u64;

/// Several rules are decided by a script of their own, which can be missing too.
#[test]
fn b060_missing_script_inside_a_multi_rule_check() {
    let server = Server::start(Flavor::Installed);
    let limiter = connected(on(server.url()).deadline(secs(10)));
    let rules = [(); 3].map(|()| window(1_000));
    let checks: Vec<Check<'_>> = rules.iter().map(|rule| Check::new(rule, "key")).collect();
    for i in 1..=100 {
        server.command::<()>(&["SCRIPT", "FLUSH"]);
        let decision = limiter.check_all_blocking(&checks).unwrap();
        assert_eq!(decision.degraded(), None);
        let remaining: Vec<u64> =
            decision.outcomes().iter().map(ratelimit_kit::Outcome::remaining).collect();
        assert_eq!(remaining, [1_000 - i; 3]);
    }
    // Where the machine stood still for a second, all of them were uploaded without a call.
    let uploads = server.calls("script|load") - ALL;
    assert!((100..=100 + 2 * ALL).contains(&uploads), "{uploads}");
}
