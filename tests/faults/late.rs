//! Answers that come when nobody waits for them any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ratelimit_kit::{Limiter, RateLimitError, Rule, StoreError, rate_limit};
use test_support::{Flavor, Proxy, Server, unique};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use crate::support::calls::{Told, block_on, call, call_async, connected, on, window, window_of};
use crate::support::wait::{ms, secs, until};
use test_stage::machine;

/// The machine kept a call from being answered in time, and what follows is not what was meant.
struct Void;

/// How many rounds there are, and how many more may be void.
const ROUNDS: (usize, usize) = (50, 25);

/// A check that has missed its deadline gets its answer while other checks wait for theirs, over the
/// same connection. Each of them gets its own.
#[test]
fn b067_a_late_reply_never_reaches_another_call() {
    let _quiet = machine::quiet();
    thread::scope(|threads| {
        for asynchronous in [false, true] {
            threads.spawn(move || {
                let server = Server::shared(Flavor::Installed);
                let proxy = Proxy::to(server.port());
                let limiter = connected(on(proxy.url()).deadline(ms(100)));
                // The scripts are uploaded at their first use.
                until(secs(5), "a decision", || call(&limiter, &window(5), "key").by_server());
                let (rounds, void) = ROUNDS;
                let mut good = 0;
                for round in 0..rounds + void {
                    let done = if asynchronous {
                        block_on(round_async(&proxy, &limiter, round))
                    } else {
                        round_blocking(&proxy, &limiter, round)
                    };
                    good += usize::from(done.is_ok());
                    if good == rounds {
                        // That it all was over one connection is the point.
                        assert_eq!(proxy.connections().len(), 1);
                        return;
                    }
                }
                panic!("the machine was too busy for {} rounds of {rounds}", rounds - good);
            });
        }
    });
}

/// What a round is about: a key that is used up, and one that is fresh.
struct Keys {
    used_up: Rule,
    fresh: Rule,
}

impl Keys {
    fn new() -> Self {
        Self { used_up: window_of(1, secs(50)), fresh: window_of(20, secs(60)) }
    }
}

fn in_time(told: Told) -> Result<Told, Void> {
    match told {
        Told::Failed(StoreError::Deadline { .. }) => Err(Void),
        told => Ok(told),
    }
}

fn is_refused(told: &Told) {
    let Told::Refused(wait) = told else { panic!("{told:?}") };
    assert!(secs(45) < *wait && *wait <= secs(50), "{wait:?}");
}

fn is_late(told: &Told) {
    assert!(matches!(told, Told::Failed(StoreError::Deadline { .. })), "{told:?}");
}

/// In every other round the late answer is on its way before the next call is made; else it comes
/// just before that call's own answer.
fn round_blocking(proxy: &Proxy, limiter: &Limiter, round: usize) -> Result<(), Void> {
    let Keys { used_up, fresh } = Keys::new();
    assert_eq!(in_time(call(limiter, &used_up, "key"))?, Told::Admitted(0));
    proxy.replies().hold();
    is_late(&call(limiter, &used_up, "key"));
    let sent = proxy.requests().bytes();
    let first = thread::scope(|threads| {
        if round.is_multiple_of(2) {
            proxy.pass();
        }
        let first = threads.spawn(|| call(limiter, &fresh, "key"));
        until(secs(5), "a request", || proxy.requests().bytes() > sent);
        proxy.pass();
        first.join().unwrap()
    });
    assert_eq!(in_time(first)?, Told::Admitted(19));
    for remaining in (0..19).rev() {
        assert_eq!(in_time(call(limiter, &fresh, "key"))?, Told::Admitted(remaining));
    }
    is_refused(&in_time(call(limiter, &used_up, "key"))?);
    Ok(())
}

async fn round_async(proxy: &Proxy, limiter: &Limiter, round: usize) -> Result<(), Void> {
    let Keys { used_up, fresh } = Keys::new();
    assert_eq!(in_time(call_async(limiter, &used_up, "key").await)?, Told::Admitted(0));
    proxy.replies().hold();
    is_late(&call_async(limiter, &used_up, "key").await);
    let sent = proxy.requests().bytes();
    if round.is_multiple_of(2) {
        proxy.pass();
    }
    let (first, ()) = tokio::join!(call_async(limiter, &fresh, "key"), async {
        while proxy.requests().bytes() == sent {
            sleep(ms(1)).await;
        }
        proxy.pass();
    });
    assert_eq!(in_time(first)?, Told::Admitted(19));
    for remaining in (0..19).rev() {
        assert_eq!(in_time(call_async(limiter, &fresh, "key").await)?, Told::Admitted(remaining));
    }
    is_refused(&in_time(call_async(limiter, &used_up, "key").await)?);
    Ok(())
}

/// Calls whose callers lose patience before the answer comes cost at most what they asked for, and
/// leave nothing behind: no body that runs, no task, and no answer for somebody else.
#[test]
fn b071_callers_future_dropped_during_the_check() {
    let server = Server::shared(Flavor::Installed);
    let proxy = Proxy::to(server.port());
    let limiter = connected(on(proxy.url()).deadline(secs(5)));
    assert!(call(&limiter, &window(5), "key").by_server());
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(dropped(&proxy, limiter));
}

async fn dropped(proxy: &Proxy, limiter: Limiter) {
    #[rate_limit(
        name = "dropped",
        key = key,
        algo = "fixed_window",
        limit = 1_000,
        window = 600,
        limiter = limiter
    )]
    async fn body(key: &str, limiter: &Limiter, runs: &AtomicUsize) -> Result<(), RateLimitError> {
        runs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    let key = Arc::new(unique("key"));
    let runs = Arc::new(AtomicUsize::new(0));
    let metrics = tokio::runtime::Handle::current().metrics();
    let baseline = metrics.num_alive_tasks();
    proxy.replies().delay(ms(200));
    for _ in 0..5 {
        let calls = (0..20).map(|_| {
            let (key, limiter, runs) = (Arc::clone(&key), limiter.clone(), Arc::clone(&runs));
            tokio::spawn(async move { timeout(ms(50), body(&key, &limiter, &runs)).await })
        });
        for call in calls.collect::<Vec<_>>() {
            assert!(call.await.unwrap().is_err(), "the answer came before the caller went");
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    proxy.pass();

    let fresh = window(10);
    for remaining in (0..10).rev() {
        assert_eq!(call_async(&limiter, &fresh, "key").await, Told::Admitted(remaining));
    }
    assert_eq!(metrics.num_alive_tasks(), baseline);
    body(&key, &limiter, &runs).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let rule = Rule::new("dropped", window(1_000).algorithm().unwrap());
    let Told::Admitted(remaining) = call_async(&limiter, &rule, &key).await else { panic!() };
    // After the call before this one there were from 899 to 999.
    assert!((898..=998).contains(&remaining), "{remaining}");
    assert_eq!(proxy.connections().len(), 1, "nobody but callers lost patience");
}
