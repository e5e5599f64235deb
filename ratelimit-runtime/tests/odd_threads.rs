//! Blocking calls from threads that cannot wait.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests: a panic is a failed test")]

use std::cell::RefCell;
use std::future::{Future as _, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use ratelimit_runtime::{
    Algorithm, Check, Limiter, OnError, RateLimitError, Rule, Store, StoreError,
};

use ratelimit_runtime::store::{Answers, BoxFuture};

static RULE: Rule =
    Rule::new("rule", Algorithm::FixedWindow { limit: 9, window: Duration::from_mins(1) });

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A store that never answers.
#[derive(Debug)]
struct Silent;

impl Store for Silent {
    fn decide<'a>(&'a self, _: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(pending())
    }

    fn reset<'a>(&'a self, _: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(pending())
    }
}

fn limiter() -> Limiter {
    let builder = Limiter::builder().store(Silent).on_error(OnError::Closed);
    builder.deadline(Duration::from_millis(20)).build().unwrap()
}

/// Calls, and tells why there is no answer and by which thread.
fn call(limiter: &Limiter, tell: &Sender<(Option<String>, String)>) {
    let cause = match limiter.check_blocking(&Check::new(&RULE, "key")) {
        Err(RateLimitError::Unavailable(unavailable)) => unavailable.cause().to_string(),
        other => panic!("{other:?}"),
    };
    tell.send((thread::current().name().map(str::to_owned), cause)).unwrap();
}

/// Runs what waits at once, on the thread that wakes it: here it is a call.
struct AtOnce(Limiter, Sender<(Option<String>, String)>);

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        call(&self.0, &self.1);
        let ready = self.0.ready_blocking();
        self.1.send((None, format!("{ready:?}"))).unwrap();
    }
}

#[test]
fn the_limiters_own_thread_does_not_wait_for_itself() {
    let (limiter, (tell, told)) = (limiter(), mpsc::channel());
    let waker = Waker::from(Arc::new(AtOnce(limiter.clone(), tell)));
    let check = Check::new(&RULE, "key");
    let mut waiting = pin!(limiter.check(&check));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // The deadline wakes it.
    let (thread, cause) = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(thread.as_deref(), Some("ratelimit"));
    assert!(cause.contains("the limiter's own thread"), "{cause}");
    let (_, ready) = told.recv_timeout(PATIENCE).unwrap();
    assert!(ready.contains("the limiter's own thread"), "{ready}");
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// Calls when its thread ends.
struct AtTheEnd(Limiter, Sender<(Option<String>, String)>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        call(&self.0, &self.1);
        // One that is awaited there, too.
        let check = Check::new(&RULE, "key");
        let mut waiting = pin!(self.0.check(&check));
        let asked = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(asked, Poll::Ready(Err(RateLimitError::Unavailable(_)))), "{asked:?}");
        self.1.send((None, String::new())).unwrap();
    }
}

thread_local! {
    static LAST: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_that_has_nearly_ended_is_told_so() {
    let (tell, told) = mpsc::channel();
    let ending = thread::spawn(|| {
        LAST.set(Some(AtTheEnd(limiter(), tell)));
        // The context of timers is first used after it, and so gone before it.
        assert!(limiter().check_blocking(&Check::new(&RULE, "key")).is_err());
    });
    ending.join().unwrap();
    let (_, cause) = told.recv_timeout(PATIENCE).unwrap();
    assert!(cause.contains("nearly ended"), "{cause}");
    assert!(told.recv_timeout(PATIENCE).is_ok());
}
