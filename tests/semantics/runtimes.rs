//! Where a limiter can be called: from async tasks, from blocking code within them, without any
//! runtime, and from one runtime after another.

use std::sync::mpsc;
use std::thread;

use ratelimit_kit::{Check, ConfigError, InvalidCall, Limiter, Rate, RateLimitError, Rule};
use test_support::{Flavor, Server, unique};
use tokio::runtime::{Builder, Runtime};

use test_stage::algorithms::{ms, rule, secs, token_bucket};
use test_stage::stage::{block_on, on_redis, told};

/// Runs what must not hang.
fn in_time(what: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn(move || {
        what();
        done.send(()).unwrap();
    });
    let done = wait.recv_timeout(secs(60));
    assert_ne!(done, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    thread.join().unwrap();
}

fn stores() -> [Limiter; 2] {
    [Limiter::builder().build().unwrap(), on_redis().build().unwrap()]
}

/// More than any of these tests takes, and no refill that it could see.
fn many() -> Rule {
    rule(token_bucket(100_000, Rate::per_day(1)))
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Tokio makes its channels pause in a task that has polled them often without yielding. A task
/// that blocks in every call never yields.
#[test]
fn many_blocking_checks_within_one_poll_of_a_task() {
    in_time(|| {
        for runtime in [current_thread(), multi_thread()] {
            for limiter in stores() {
                let rule = many();
                let task = async move {
                    for call in 0..1_500 {
                        let outcome = told(limiter.check_blocking(&Check::new(&rule, "key")));
                        assert_eq!(outcome.remaining(), 100_000 - 1 - call);
                    }
                };
                runtime.block_on(async { tokio::spawn(task).await.unwrap() });
            }
        }
    });
}

/// The same for checks that are awaited and nearly always ready.
#[test]
fn many_awaited_checks_in_one_task() {
    in_time(|| {
        for limiter in stores() {
            let rule = many();
            let task = async move {
                for _ in 0..1_500 {
                    told(limiter.check(&Check::new(&rule, "key")).await);
                }
            };
            multi_thread().block_on(async { tokio::spawn(task).await.unwrap() });
        }
    });
}

/// Blocking checks in parallel, on every thread of a runtime at once.
#[test]
fn blocking_checks_on_all_threads_of_a_runtime() {
    in_time(|| {
        for limiter in stores() {
            let runtime = multi_thread();
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let limiter = limiter.clone();
                    runtime.spawn(async move {
                        let rule = many();
                        for _ in 0..100 {
                            told(limiter.check_blocking(&Check::new(&rule, "key")));
                        }
                    })
                })
                .collect();
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
        }
    });
}

/// A program without a runtime can use everything, and so can a thread that is not the first.
#[test]
fn checks_without_any_runtime() {
    in_time(|| {
        for limiter in stores() {
            assert!(tokio::runtime::Handle::try_current().is_err());
            let rule = many();
            let left = |outcome: ratelimit_kit::Outcome| 100_000 - outcome.remaining();
            assert_eq!(left(told(limiter.check_blocking(&Check::new(&rule, "key")))), 1);
            assert_eq!(left(told(block_on(limiter.check(&Check::new(&rule, "key"))))), 2);
            let (other, rule) = (limiter.clone(), rule);
            let third =
                thread::spawn(move || left(told(other.check_blocking(&Check::new(&rule, "key")))));
            assert_eq!(third.join().unwrap(), 3);
        }
    });
}

/// A limiter belongs to no runtime: the one on which it was made or first used may end, with calls
/// under way.
#[test]
fn a_limiter_outlives_the_runtimes_that_use_it() {
    in_time(|| {
        type Make = fn() -> Limiter;
        let makes: [Make; 2] =
            [|| Limiter::builder().build().unwrap(), || on_redis().build().unwrap()];
        for make in makes {
            let rule = many();
            let check = Check::new(&rule, "key");
            let first = current_thread();
            let limiter = first.block_on(async {
                let limiter = make();
                assert_eq!(told(limiter.check(&check).await).remaining(), 99_999);
                limiter
            });
            drop(first);
            for (round, runtime) in [multi_thread(), current_thread()].into_iter().enumerate() {
                let outcome = told(runtime.block_on(limiter.check(&check)));
                assert_eq!(outcome.remaining(), 99_998 - 2 * round as u64);
                let outcome = told(runtime.block_on(async { limiter.check_blocking(&check) }));
                assert_eq!(outcome.remaining(), 99_997 - 2 * round as u64);
                // Left behind in the middle of a call, of another key.
                let (limiter, left) = (limiter.clone(), many());
                runtime.spawn(async move {
                    loop {
                        told(limiter.check(&Check::new(&left, "left behind")).await);
                        tokio::task::yield_now().await;
                    }
                });
                runtime.block_on(async { tokio::time::sleep(ms(20)).await });
                runtime.shutdown_timeout(secs(5));
            }
            assert_eq!(told(limiter.check_blocking(&check)).remaining(), 99_994);
        }
    });
}

/// A connection of the caller's own serves async checks. A blocking one would wait for a runtime
/// that may be the very thread it blocks, so that is an error, and says so.
#[test]
fn a_handed_in_connection_is_for_async_checks() {
    in_time(|| {
        let runtime = current_thread();
        runtime.block_on(async {
            let url = Server::shared(Flavor::Installed).url();
            let client = redis::Client::open(url).unwrap();
            let connection = client.get_multiplexed_async_connection().await.unwrap();
            let limiter = Limiter::builder().redis_connection(connection).prefix(unique("it"));
            let limiter = limiter.deadline(secs(10)).build().unwrap();
            let rule = many();
            let check = Check::new(&rule, "key");
            assert_eq!(told(limiter.check(&check).await).remaining(), 99_999);
            match limiter.check_blocking(&check) {
                Err(RateLimitError::Invalid(mistake)) => {
                    assert_eq!(mistake, InvalidCall::Config(ConfigError::BlockingConnection));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(told(limiter.check(&check).await).remaining(), 99_998);
        });
    });
}
