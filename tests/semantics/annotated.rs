//! Annotated functions on both stores.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use ratelimit_kit::store::Embedded;
use ratelimit_kit::{
    Algorithm, Check, InvalidCall, Limiter, Outcome, RateLimitError, Rule, rate_limit,
};
use test_support::{Flavor, Server, unique};
use tokio::runtime::{Builder, Runtime};

use crate::churn::Watched;
use test_stage::algorithms::{HOUR, Kind, ms, secs};
use test_stage::stage::{ORIGIN, Stage, block_on, on_redis};

/// Whether the body ran; anything but a refusal and an admission fails the test.
fn admitted(result: Result<(), RateLimitError>) -> bool {
    match result {
        Ok(()) => true,
        Err(RateLimitError::Limited(_)) => false,
        Err(other) => panic!("neither admitted nor refused: {other}"),
    }
}

/// How many keys in Redis have this text in their names.
fn keys_with(text: &str) -> Vec<String> {
    Server::shared(Flavor::Installed).command(&["KEYS", &format!("*{text}*")])
}

mod b016 {
    use super::*;

    pub(super) static BODIES: AtomicU64 = AtomicU64::new(0);

    #[rate_limit(name = "b016", key = "user", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
    pub(super) fn plain(limiter: &Limiter, user: &str) -> Result<(), RateLimitError> {
        BODIES.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[rate_limit(
        name = "b016-default",
        key = "user ?: 'anonymous'",
        algo = fixed_window,
        limit = 2,
        window = 60,
        limiter = limiter,
    )]
    pub(super) fn with_default(limiter: &Limiter, user: &str) -> Result<(), RateLimitError> {
        Ok(())
    }
}

#[test]
fn b016_an_empty_key_is_a_mistake_and_a_default_is_a_key() {
    for stage in Stage::both() {
        for _ in 0..3 {
            let error = b016::plain(&stage.limiter, "").unwrap_err();
            let empty = InvalidCall::EmptyKey { rule: "b016".into() };
            assert!(matches!(error, RateLimitError::Invalid(mistake) if mistake == empty));
        }
        assert_eq!(b016::BODIES.load(Ordering::Relaxed), 0);
        assert_eq!(keys_with(":b016:"), [""; 0]);

        for key in ["", "a", "b", "c"] {
            assert!(admitted(b016::with_default(&stage.limiter, key)), "{key:?}");
        }
        assert!(admitted(b016::with_default(&stage.limiter, "anonymous")));
        assert!(!admitted(b016::with_default(&stage.limiter, "")), "a limit of its own");
    }
}

#[test]
fn b016_the_embedded_store_holds_no_more_than_it_may() {
    let store = Arc::new(Embedded::new().with_max_keys(2));
    let limiter = Limiter::builder().store(Watched(store.clone())).build().unwrap();
    for key in ["", "a", "b", "c"] {
        let _ = b016::with_default(&limiter, key);
        // The third is that of the overflow budget.
        assert!(store.len() <= 3, "{}", store.len());
    }
}

mod b019 {
    use super::*;

    #[rate_limit(name = "b019-r1", key = "[tenant, user]", capacity = 1, refill = "1/h", limiter = limiter)]
    pub(super) fn r1(limiter: &Limiter, tenant: &str, user: &str) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "b019-r2", key = "user", capacity = 1, refill = "1/h", limiter = limiter)]
    pub(super) fn r2(limiter: &Limiter, user: &str) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "b019-r3", key = "ip", capacity = 1, refill = "1/h", limiter = limiter)]
    pub(super) fn r3(limiter: &Limiter, ip: std::net::IpAddr) -> Result<(), RateLimitError> {
        Ok(())
    }
}

#[test]
fn b019_keys_of_several_parts_are_injective() {
    let pairs =
        [("a:b", "c"), ("a", "b:c"), ("a\\:b", "c"), ("a%3Ab", "c"), ("a|b", "c"), ("a\0b", "c")];
    for stage in Stage::both() {
        for first in [true, false] {
            for (tenant, user) in pairs {
                let is_first = admitted(b019::r1(&stage.limiter, tenant, user));
                assert_eq!(is_first, first, "{tenant:?} {user:?} on {}", stage.name);
            }
            assert_eq!(admitted(b019::r2(&stage.limiter, "127.0.0.1")), first);
            let ip = std::net::Ipv4Addr::LOCALHOST.into();
            assert_eq!(admitted(b019::r3(&stage.limiter, ip)), first);
        }
    }
}

mod b020 {
    pub(super) mod a {
        use super::super::*;

        #[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
        pub(crate) fn send(limiter: &Limiter, id: u64) -> Result<(), RateLimitError> {
            Ok(())
        }
    }
    pub(super) mod b {
        use super::super::*;

        #[rate_limit(key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
        pub(crate) fn send(limiter: &Limiter, id: u64) -> Result<(), RateLimitError> {
            Ok(())
        }
    }
    use super::*;

    #[rate_limit(name = "b020-200", key = "id", algo = fixed_window, limit = 200, window = 60, limiter = limiter)]
    #[rate_limit(name = "b020-2", key = "id", algo = fixed_window, limit = 2, window = 60)]
    pub(super) fn two(limiter: &Limiter, id: u64) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "pool", key = "id", algo = fixed_window, limit = 3, window = 60, limiter = limiter)]
    pub(super) fn one_of_the_pool(limiter: &Limiter, id: u64) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "pool", key = "id", algo = fixed_window, limit = 3, window = 60, limiter = limiter)]
    pub(super) fn other_of_the_pool(limiter: &Limiter, id: u64) -> Result<(), RateLimitError> {
        Ok(())
    }
}

#[test]
fn b020_a_bucket_is_a_rule_and_a_key() {
    for stage in Stage::both() {
        let limiter = &stage.limiter;
        let a = [(); 3].map(|()| admitted(b020::a::send(limiter, 1)));
        assert_eq!(a, [true, true, false], "{}", stage.name);
        assert!(admitted(b020::b::send(limiter, 1)));

        assert!(b020::two(limiter, 1).is_ok() && b020::two(limiter, 1).is_ok());
        let Err(RateLimitError::Limited(refusal)) = b020::two(limiter, 1) else { panic!() };
        assert_eq!(refusal.rule(), "b020-2");
        let [wide, narrow] = refusal.decision().outcomes() else { panic!() };
        assert_eq!((wide.rule(), wide.remaining()), ("b020-200", 198));
        assert_eq!((narrow.rule(), narrow.remaining()), ("b020-2", 0));

        let pool = [
            b020::one_of_the_pool(limiter, 1),
            b020::other_of_the_pool(limiter, 1),
            b020::one_of_the_pool(limiter, 1),
            b020::other_of_the_pool(limiter, 1),
        ];
        assert_eq!(pool.map(admitted), [true, true, true, false]);
    }
}

#[rate_limit(name = "b021", key = "id", capacity = 1, refill = "1/h", limiter = limiter)]
fn b021(limiter: &Limiter, id: &str) -> Result<(), RateLimitError> {
    Ok(())
}

#[test]
fn b021_long_keys_and_common_prefixes() {
    let long = |length: usize, last: char| "x".repeat(length - 1) + &last.to_string();
    let ids = [
        long(102_400, 'a'),
        long(102_400, 'b'),
        long(1_048_576, 'a'),
        long(1_048_576, 'b'),
        "tess_live_AAAA".to_owned(),
        "tess_live_BBBB".to_owned(),
    ];
    for stage in Stage::both() {
        for first in [true, false] {
            for id in &ids {
                let result = b021(&stage.limiter, id);
                let told = result.as_ref().err().map_or(0, |error| format!("{error:?}").len());
                assert!(told <= 1_024, "an error of {told} bytes");
                assert_eq!(admitted(result), first, "{} bytes on {}", id.len(), stage.name);
            }
        }
    }
    let keys = keys_with(":b021:");
    assert_eq!(keys.len(), ids.len());
    assert!(keys.iter().all(|key| key.len() <= 512), "{keys:?}");
}

/// What each rule of a list shows as left.
fn remaining(outcomes: &[Outcome]) -> Vec<(&str, u64)> {
    outcomes.iter().map(|outcome| (outcome.rule(), outcome.remaining())).collect()
}

/// All pairs of algorithms, in both orders, one call after the other and many at once.
#[test]
fn b095_a_denied_call_takes_nothing_from_the_other_rules() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for stage in Stage::both() {
        stage.clock.set(ORIGIN);
        for first in Kind::ALL {
            for second in Kind::ALL {
                for a_is_first in [true, false] {
                    for calls in [5, 50] {
                        let a = named(first.recovering(10, HOUR), "a");
                        let b = named(second.recovering(3, HOUR), "b");
                        let bodies = together(&runtime, &stage.limiter, &a, &b, a_is_first, calls);
                        let case =
                            format!("{first:?} {second:?} {a_is_first} {calls} {}", stage.name);
                        assert_eq!(bodies, 3, "{case}");
                        let left = |rule| block_on(stage.limiter.peek(&Check::new(rule, "k")));
                        assert_eq!(remaining(left(&a).unwrap().outcomes())[0].1, 7, "{case}");
                        assert_eq!(remaining(left(&b).unwrap().outcomes())[0].1, 0, "{case}");
                    }
                }
            }
        }
    }
}

fn named(algorithm: Algorithm, stem: &str) -> Rule {
    Rule::named(unique(stem), algorithm)
}

/// How many of so many calls were admitted: one after the other, or from 8 tasks.
fn together(
    runtime: &Runtime,
    limiter: &Limiter,
    a: &Rule,
    b: &Rule,
    a_is_first: bool,
    calls: u64,
) -> u64 {
    let tasks = if calls > 5 { 8 } else { 1 };
    let left = Arc::new(AtomicU64::new(calls));
    let bodies = Arc::new(AtomicU64::new(0));
    runtime.block_on(async {
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..tasks {
            let (limiter, a, b) = (limiter.clone(), a.clone(), b.clone());
            let (left, bodies) = (left.clone(), bodies.clone());
            set.spawn(async move {
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                    .is_ok()
                {
                    let (a, b) = (Check::new(&a, "k"), Check::new(&b, "k"));
                    let checks = if a_is_first { [a, b] } else { [b, a] };
                    match limiter.check_all(&checks).await {
                        Ok(_) => {
                            bodies.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(RateLimitError::Limited(_)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        while let Some(done) = set.join_next().await {
            done.unwrap();
        }
    });
    bodies.load(Ordering::Relaxed)
}

#[rate_limit(name = "b095", key = "id", algo = fixed_window, limit = 10, window = 60, limiter = limiter)]
#[rate_limit(name = "b095-b", key = "id", algo = sliding_log, limit = 3, window = 60)]
async fn b095(limiter: &Limiter, id: &str, bodies: &AtomicU64) -> Result<(), RateLimitError> {
    bodies.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[test]
fn b095_an_annotated_function_with_two_rules() {
    for stage in Stage::both() {
        let bodies = AtomicU64::new(0);
        let last = (0..5).map(|_| block_on(b095(&stage.limiter, "k", &bodies))).last();
        let Some(Err(RateLimitError::Limited(refusal))) = last else { panic!("{last:?}") };
        assert_eq!(remaining(refusal.decision().outcomes()), [("b095", 7), ("b095-b", 0)]);
        assert_eq!(bodies.load(Ordering::Relaxed), 3);
    }
}

#[rate_limit(name = "b123", key = "id", algo = fixed_window, limit = 2, window = 60, limiter = limiter)]
fn b123(limiter: &Limiter, id: &str) -> Result<(), RateLimitError> {
    Ok(())
}

/// Three calls on a fresh key, none of which may take longer than the limiter's deadline.
fn b123_three_calls(limiter: &Limiter) {
    let id = unique("b123");
    let calls = [(); 3].map(|()| {
        let start = Instant::now();
        let result = admitted(b123(limiter, &id));
        assert!(start.elapsed() < secs(10) + ms(50));
        result
    });
    assert_eq!(calls, [true, true, false]);
}

/// Calls when it is dropped.
struct Last(Option<Limiter>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(limiter) = self.0.take() {
            // When everything ends, an error of the store is acceptable, and a panic is not.
            let _ = b123(&limiter, "last");
        }
    }
}

thread_local! {
    static AT_THE_END: RefCell<Last> = const { RefCell::new(Last(None)) };
}

#[test]
fn b123_a_sync_function_is_limited_inside_async_runtimes() {
    let (done, wait) = std::sync::mpsc::channel();
    let all = thread::spawn(move || {
        for limiter in [on_redis().build().unwrap(), Limiter::builder().build().unwrap()] {
            let multi = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            let single = Builder::new_current_thread().enable_all().build().unwrap();
            let run = |runtime: &Runtime| {
                let of_task = limiter.clone();
                let task = async move { b123_three_calls(&of_task) };
                runtime.block_on(async { tokio::spawn(task).await.unwrap() });
                let of_pool = limiter.clone();
                let pool =
                    async { tokio::task::spawn_blocking(move || b123_three_calls(&of_pool)).await };
                runtime.block_on(pool).unwrap();
                runtime.block_on(async { b123_three_calls(&limiter) });
                let last = Last(Some(limiter.clone()));
                runtime.spawn(async move {
                    let _last = last;
                    std::future::pending::<()>().await;
                });
                let last = limiter.clone();
                runtime.spawn(async move {
                    AT_THE_END.with(|end| end.borrow_mut().0 = Some(last));
                });
            };
            run(&multi);
            run(&single);
            // The tasks and the threads end, and with them what calls in its `drop`.
            drop(multi);
            drop(single);
        }
        done.send(()).unwrap();
    });
    assert!(wait.recv_timeout(secs(60)).is_ok(), "it hangs, or has panicked");
    all.join().unwrap();
}
