//! Callers who leave before their call has run: what they were charged is refunded.
//!
//! Embedded, that is done when the future is dropped. In Redis it takes a moment: there, a test waits
//! until as much is left as was left in process.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_kit::{
    Algorithm, Check, Clock, Limiter, ManualClock, OnError, Rate, RateLimitError, Rule, rate_limit,
};
use test_support::{Flavor, Proxy, Server, unique};

use test_stage::algorithms::{ms, secs};
use test_stage::stage::{ORIGIN, Stage, block_on, on, only};

/// Who has run.
type Ran = Arc<Mutex<Vec<usize>>>;

#[rate_limit(name = "line", algo = leaky_bucket, capacity = 20, leak = 5, wait = "4s", limiter = limiter)]
async fn visit(limiter: Limiter, ran: Ran, who: usize) -> Result<(), RateLimitError> {
    ran.lock().unwrap().push(who);
    Ok(())
}

static LINE: Rule =
    Rule::new("line", Algorithm::LeakyBucket { capacity: 20, leak: Rate::per_second(5) });

#[rate_limit(name = "all-line", algo = leaky_bucket, capacity = 20, leak = 5, wait = "4s", limiter = limiter)]
#[rate_limit(name = "all-bucket", capacity = 9, refill = "1/h", cost = 2)]
#[rate_limit(name = "all-window", algo = fixed_window, limit = 9, window = "1h", cost = 2)]
#[rate_limit(name = "all-log", algo = sliding_log, limit = 9, window = "1h", cost = 2)]
#[rate_limit(name = "all-counter", algo = sliding_counter, limit = 9, window = "1h", cost = 2)]
async fn visit_all(limiter: Limiter, ran: Ran, who: usize) -> Result<(), RateLimitError> {
    ran.lock().unwrap().push(who);
    Ok(())
}

const HOUR: Duration = secs(3_600);

static ALL: [Rule; 5] = [
    Rule::new("all-line", Algorithm::LeakyBucket { capacity: 20, leak: Rate::per_second(5) }),
    Rule::new("all-bucket", Algorithm::TokenBucket { capacity: 9, refill: Rate::per_hour(1) }),
    Rule::new("all-window", Algorithm::FixedWindow { limit: 9, window: HOUR }),
    Rule::new("all-log", Algorithm::SlidingLog { limit: 9, window: HOUR }),
    Rule::new("all-counter", Algorithm::SlidingCounter { limit: 9, window: HOUR, sub_windows: 1 }),
];

type Visit = Pin<Box<dyn Future<Output = Result<(), RateLimitError>>>>;

/// A caller, and how its call ended.
enum Caller {
    Waits(Visit),
    Left,
    Refused,
    /// At so many milliseconds.
    Ran(u64),
}

/// What is left of rules, as a twin has it.
fn left(limiter: &Limiter, rules: &[Rule]) -> Vec<u64> {
    let peek =
        |rule| block_on(limiter.peek(&Check::new(rule, ratelimit_kit::LimitKey::whole_rule())));
    rules.iter().map(|rule| only(peek(rule).unwrap().outcomes()).remaining()).collect()
}

/// Callers of one function, on one store.
struct Street<'r> {
    stage: Stage,
    rules: &'r [Rule],
    callers: Vec<Caller>,
    ran: Ran,
    now: u64,
    /// What was left after each step, or is to be.
    left: Vec<Vec<u64>>,
    step: usize,
    follows: bool,
}

impl<'r> Street<'r> {
    /// In process.
    fn embedded(rules: &'r [Rule]) -> Self {
        Self {
            stage: Stage::embedded(),
            rules,
            callers: Vec::new(),
            ran: Ran::default(),
            now: 0,
            left: Vec::new(),
            step: 0,
            follows: false,
        }
    }

    /// In Redis: after each step as much is left as was left there.
    fn redis(twin: &Self) -> Self {
        Self {
            stage: Stage::redis(),
            left: twin.left.clone(),
            follows: true,
            ..Self::embedded(twin.rules)
        }
    }

    fn at(&mut self, ms: u64) {
        self.now = ms;
        self.stage.at(ms);
        self.poll();
    }

    /// Lets time pass in small steps, as a line needs it.
    fn until(&mut self, ms: u64) {
        while self.now < ms {
            self.at((self.now / 20 * 20 + 20).min(ms));
        }
    }

    fn enter_with(&mut self, visit: impl FnOnce(Limiter, Ran, usize) -> Visit) -> usize {
        let who = self.callers.len();
        let visit = visit(self.stage.limiter.clone(), self.ran.clone(), who);
        self.callers.push(Caller::Waits(visit));
        self.poll();
        self.settle();
        who
    }

    fn enter(&mut self) -> usize {
        self.enter_with(|limiter, ran, who| Box::pin(visit(limiter, ran, who)))
    }

    fn leave(&mut self, who: usize) {
        self.callers[who] = Caller::Left;
        self.settle();
    }

    /// When a caller has run.
    fn ran(&self, who: usize) -> Option<u64> {
        match self.callers[who] {
            Caller::Ran(at) => Some(at),
            _ => None,
        }
    }

    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for caller in &mut self.callers {
            let Caller::Waits(visit) = caller else { continue };
            match visit.as_mut().poll(&mut context) {
                Poll::Ready(Ok(())) => *caller = Caller::Ran(self.now),
                Poll::Ready(Err(RateLimitError::Limited(_))) => *caller = Caller::Refused,
                Poll::Ready(Err(error)) => panic!("{error}"),
                Poll::Pending => {}
            }
        }
    }

    /// Ends a step: what it did is done.
    fn settle(&mut self) {
        let step = self.step;
        self.step += 1;
        let now = left(&self.stage.limiter, self.rules);
        if !self.follows {
            self.left.push(now);
            return;
        }
        let deadline = Instant::now() + secs(10);
        let mut now = now;
        while now != self.left[step] {
            assert!(
                Instant::now() < deadline,
                "step {step}: {now:?} instead of {:?}",
                self.left[step]
            );
            // The first call of a script takes more than one answer.
            self.poll();
            thread::sleep(ms(1));
            now = left(&self.stage.limiter, self.rules);
        }
        // The answer is there: one to a later question was.
        self.poll();
    }
}

/// A test on both stores, the second of which has to do what the first did.
fn on_both(rules: &[Rule], test: impl Fn(&mut Street<'_>)) {
    let mut street = Street::embedded(rules);
    test(&mut street);
    let mut twin = Street::redis(&street);
    test(&mut twin);
    let alike = street.callers.iter().zip(&twin.callers).all(|(a, b)| match (a, b) {
        (Caller::Ran(a), Caller::Ran(b)) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    });
    assert!(alike, "the stores differ");
}

/// Ten times a second somebody comes and leaves after 3 ms. Once a second somebody comes who is in
/// earnest.
#[test]
fn who_leaves_takes_no_turns_from_others() {
    on_both(std::slice::from_ref(&LINE), |street| {
        let mut honest = Vec::new();
        for i in 0..108 {
            let at = i * 100;
            street.until(at);
            let stranger = street.enter();
            street.at(at + 3);
            if street.ran(stranger).is_none() {
                street.leave(stranger);
            }
            if i % 10 == 5 {
                street.until(at + 50);
                honest.push((at + 50, street.enter()));
            }
        }
        street.until(12_000);
        assert_eq!(honest.len(), 11);
        for (came, who) in honest {
            // One turn of the line, if somebody has just run.
            let ran = street.ran(who);
            assert!(ran.is_some_and(|ran| ran - came <= 200), "came at {came}, ran at {ran:?}");
        }
        // Of 54 turns.
        let ran = street.ran.lock().unwrap().len();
        assert!(ran >= 50, "the body ran {ran} times");
    });
}

#[test]
fn an_empty_line_is_no_line() {
    on_both(std::slice::from_ref(&LINE), |street| {
        let strangers: Vec<usize> = (0..40).map(|_| street.enter()).collect();
        for stranger in strangers {
            if matches!(street.callers[stranger], Caller::Waits(_)) {
                street.leave(stranger);
            }
        }
        assert_eq!(*street.ran.lock().unwrap(), [0]);
        let honest = street.enter();
        street.at(200);
        assert_eq!(street.ran(honest), Some(200));
    });
}

/// Turns that were promised stay as they are, and later calls come sooner.
#[test]
fn booked_turns_do_not_move() {
    on_both(std::slice::from_ref(&LINE), |street| {
        let [first, second, third, fourth] = [(); 4].map(|()| street.enter());
        street.leave(second);
        let fifth = street.enter();
        street.until(1_000);
        let ran = [first, third, fourth, fifth].map(|who| street.ran(who).unwrap());
        assert_eq!(ran, [0, 400, 600, 600]);
    });
}

/// Who has had a turn and did not take it has had it.
#[test]
fn a_turn_that_has_come_is_not_refunded() {
    on_both(std::slice::from_ref(&LINE), |street| {
        let [_, second, third] = [(); 3].map(|()| street.enter());
        street.stage.at(200);
        street.now = 200;
        street.leave(second);
        let left = street.left.last().unwrap().clone();
        assert_eq!(left, [18], "of 20, when one of three has leaked");
        // And the one behind it leaves in time.
        street.leave(third);
        let fourth = street.enter();
        street.until(1_000);
        assert_eq!(street.ran(fourth), Some(400));
    });
}

#[rate_limit(name = "slow-line", algo = leaky_bucket, capacity = 10, leak = "1/min", wait = "1h", limiter = limiter)]
async fn visit_slowly(limiter: Limiter, ran: Ran, who: usize) -> Result<(), RateLimitError> {
    ran.lock().unwrap().push(who);
    Ok(())
}

static SLOW: Rule =
    Rule::new("slow-line", Algorithm::LeakyBucket { capacity: 10, leak: Rate::per_minute(1) });

/// What they were charged is gone with the reset, and what is there now others were charged.
#[test]
fn who_leaves_after_a_reset_is_not_refunded() {
    on_both(std::slice::from_ref(&SLOW), |street| {
        let enter = |street: &mut Street<'_>| {
            street.enter_with(|limiter, ran, who| Box::pin(visit_slowly(limiter, ran, who)))
        };
        let before: Vec<usize> = (0..9).map(|_| enter(street)).collect();
        let check = Check::new(&SLOW, ratelimit_kit::LimitKey::whole_rule());
        block_on(street.stage.limiter.reset(&check)).unwrap();
        let after: Vec<usize> = (0..10).map(|_| enter(street)).collect();
        for who in &before[1..] {
            street.leave(*who);
        }
        let late = enter(street);
        assert!(matches!(street.callers[late], Caller::Refused));
        // Those who came since are.
        street.leave(after[9]);
        let next = enter(street);
        assert!(matches!(street.callers[next], Caller::Waits(_)));
    });
}

/// Once, and no more than there was.
#[test]
fn a_line_is_not_shorter_than_empty() {
    on_both(std::slice::from_ref(&LINE), |street| {
        let callers: Vec<usize> = (0..20).map(|_| street.enter()).collect();
        for who in &callers[1..19] {
            street.leave(*who);
        }
        // What was left in line has leaked before the last one's turn.
        street.stage.at(3_000);
        street.now = 3_000;
        street.leave(19);
        street.enter();
        assert_eq!(street.left.last().unwrap(), &[19]);
    });
}

/// Every rule of the call.
#[test]
fn all_rules_of_a_call_are_refunded() {
    on_both(&ALL, |street| {
        let visit = |limiter, ran, who| -> Visit { Box::pin(visit_all(limiter, ran, who)) };
        let [first, second, third] = [(); 3].map(|()| street.enter_with(visit));
        assert_eq!(street.left.get(2), Some(&vec![17, 3, 3, 3, 3]));
        street.leave(second);
        assert_eq!(street.left.get(3), Some(&vec![18, 5, 5, 5, 5]));
        street.until(1_000);
        assert_eq!([first, third].map(|who| street.ran(who)), [Some(0), Some(400)]);
    });
}

/// The store that decides without Redis has the same.
#[test]
fn who_leaves_is_refunded_by_the_fallback() {
    let (clock, ran) = (ManualClock::new(), Ran::default());
    clock.set(ORIGIN);
    let closed = Proxy::to(1);
    closed.refuse();
    let limiter = Limiter::builder().redis(closed.url()).prefix(unique("it"));
    let limiter = limiter.on_error(OnError::Local).clock(Clock::Manual(clock.clone()));
    let limiter = limiter.build().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut enter = |who| {
        let mut visit = Box::pin(visit(limiter.clone(), ran.clone(), who));
        let deadline = Instant::now() + secs(1);
        // Until the server is given up, which takes no more than a deadline.
        while visit.as_mut().poll(&mut context).is_pending() && Instant::now() < deadline {
            thread::sleep(ms(5));
        }
        visit
    };
    let all: Vec<_> = (0..4).map(&mut enter).collect();
    drop(all);
    let mut honest = enter(9);
    clock.advance(ms(200));
    let mut context = Context::from_waker(Waker::noop());
    assert!(honest.as_mut().poll(&mut context).is_ready());
    assert_eq!(*ran.lock().unwrap(), [0, 9]);
}

/// The answer to a caller who has gone: whatever was charged is refunded, whether or not there is
/// a line.
#[test]
fn who_leaves_before_the_answer_is_refunded() {
    let server = Server::shared(Flavor::Installed);
    let (proxy, prefix) = (Proxy::to(server.port()), unique("it"));
    let limiter = on(proxy.url()).prefix(&prefix).build().unwrap();
    let witness = on(server.url()).prefix(&prefix).build().unwrap();
    limiter.ready_blocking().unwrap();
    let ran = Ran::default();
    let mut context = Context::from_waker(Waker::noop());
    // Every script is there.
    block_on(visit_all(limiter.clone(), ran.clone(), 0)).unwrap();
    let wait_for = |expected: [u64; 4]| {
        let deadline = Instant::now() + secs(10);
        let now = || left(&witness, &ALL[1..]);
        while now() != expected {
            assert!(Instant::now() < deadline, "{:?} instead of {expected:?}", now());
            thread::sleep(ms(5));
        }
    };
    proxy.replies().hold();
    let mut caller = Box::pin(visit_all(limiter.clone(), ran.clone(), 1));
    assert!(caller.as_mut().poll(&mut context).is_pending());
    wait_for([5; 4]);
    drop(caller);
    proxy.replies().pass();
    wait_for([7; 4]);
    assert_eq!(*ran.lock().unwrap(), [0]);
    // Who has not even asked is charged nothing.
    drop(visit_all(limiter.clone(), ran.clone(), 2));
    block_on(visit_all(limiter, ran.clone(), 3)).unwrap();
    wait_for([5; 4]);
    assert_eq!(*ran.lock().unwrap(), [0, 3]);
}
