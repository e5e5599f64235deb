//! However many ask at once, the limit is the limit.

use std::sync::{Arc, Barrier};
use std::thread;

use ratelimit_kit::{Check, Limiter, Outcome};
use test_support::unique;
use tokio::task::JoinSet;

use test_stage::algorithms::{HOUR, Kind, rule, secs};
use test_stage::machine;
use test_stage::real_time::Watch;
use test_stage::stage::{block_on, on_redis, told};

const CALLS: usize = 10_000;
const LIMIT: u64 = 100;
const REPETITIONS: usize = 20;

/// Exactly the limit was admitted, and each of these calls saw another rest.
fn assert_exact(outcomes: &[Outcome], what: &str) {
    assert_eq!(outcomes.len(), CALLS, "{what}");
    let mut remaining: Vec<u64> = outcomes
        .iter()
        .filter(|outcome| outcome.is_admitted())
        .map(ratelimit_kit::Outcome::remaining)
        .collect();
    remaining.sort_unstable();
    assert_eq!(remaining, (0..LIMIT).collect::<Vec<_>>(), "{what}");
}

/// Four nodes of 64 tasks that start together get the limit between them, call by call.
#[test]
fn b073_tasks_of_four_nodes_admit_exactly_the_limit() {
    const TASKS: usize = 4 * 64;
    let _loud = machine::loud();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let prefix = unique("it");
    let nodes = [(); 4].map(|()| on_redis().prefix(&prefix).build().unwrap());
    for node in &nodes {
        block_on(node.ready()).unwrap();
    }
    let mut watch = Watch::shared();
    for kind in Kind::ALL {
        for repetition in 0..REPETITIONS {
            watch.stay_clear_of_multiples_of(HOUR, secs(5));
            let outcomes = runtime.block_on(async {
                let rule = Arc::new(rule(kind.per(LIMIT, HOUR)));
                let barrier = Arc::new(tokio::sync::Barrier::new(TASKS));
                let mut tasks = JoinSet::new();
                for task in 0..TASKS {
                    let (rule, barrier) = (Arc::clone(&rule), Arc::clone(&barrier));
                    let node = nodes[task % nodes.len()].clone();
                    tasks.spawn(async move {
                        barrier.wait().await;
                        let mut outcomes = Vec::new();
                        for _ in (task..CALLS).step_by(TASKS) {
                            outcomes.push(told(node.check(&Check::new(&rule, "key")).await));
                        }
                        outcomes
                    });
                }
                tasks.join_all().await.concat()
            });
            assert_exact(&outcomes, &format!("{kind:?}, repetition {repetition}"));
        }
    }
}

/// The same for threads on the embedded store.
#[test]
fn b073_threads_admit_exactly_the_limit() {
    const THREADS: usize = 64;
    let _loud = machine::loud();
    let limiter = Limiter::builder().build().unwrap();
    let mut watch = Watch::shared();
    for kind in Kind::ALL {
        for repetition in 0..REPETITIONS {
            // The embedded store's clock is that of this machine.
            watch.stay_clear_of_multiples_of(HOUR, secs(5));
            let rule = rule(kind.per(LIMIT, HOUR));
            let barrier = Barrier::new(THREADS);
            let call = |thread: usize| {
                barrier.wait();
                (thread..CALLS)
                    .step_by(THREADS)
                    .map(|_| told(limiter.check_blocking(&Check::new(&rule, "key"))))
                    .collect::<Vec<_>>()
            };
            let outcomes: Vec<Outcome> = thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..THREADS).map(|thread| scope.spawn(move || call(thread))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            assert_exact(&outcomes, &format!("{kind:?}, repetition {repetition}"));
        }
    }
}
