//! What the attribute makes of a call.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::__private::PER_CALL;
use crate::clock::{Clock, ManualClock};

static BUCKET: Rule =
    Rule::new("bucket", Algorithm::TokenBucket { capacity: 5, refill: Rate::per_second(1) });
static LINE: Rule =
    Rule::new("line", Algorithm::LeakyBucket { capacity: 5, leak: Rate::per_second(1) });
static COUNTER: Rule = Rule::new(
    "counter",
    Algorithm::SlidingCounter { limit: 5, window: Duration::from_mins(1), sub_windows: 1 },
);
static OFF: Rule =
    Rule::new("off", Algorithm::TokenBucket { capacity: 5, refill: Rate::per_second(1) })
        .with_mode(Mode::Off);

fn clock() -> ManualClock {
    ManualClock::new()
}

fn limiter(clock: &ManualClock) -> Limiter {
    Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap()
}

fn call(limiter: &Limiter) -> Call {
    let mut call = Call::new();
    call.on(limiter);
    call
}

fn numbers(set: impl FnOnce(&mut Call)) -> Algorithm {
    let mut call = Call::new();
    set(&mut call);
    call.checks.last().unwrap().algorithm()
}

#[test]
fn a_call_without_checks_decides_nothing() {
    assert!(Call::new().run_blocking().is_ok());
}

#[test]
fn numbers_of_the_call_replace_those_of_the_rule() {
    let set = numbers(|call| {
        call.check(&BUCKET, LimitKey::whole_rule()).capacity(7_u8).refill(Rate::per_minute(3));
    });
    assert_eq!(set, Algorithm::TokenBucket { capacity: 7, refill: Rate::per_minute(3) });

    let set = numbers(|call| {
        call.check(&LINE, LimitKey::whole_rule()).capacity(7_i64).leak(9_usize);
    });
    assert_eq!(set, Algorithm::LeakyBucket { capacity: 7, leak: Rate::per_second(9) });

    let set = numbers(|call| {
        let limit = &8_u32;
        call.check(&COUNTER, LimitKey::whole_rule()).limit(limit).window(30).sub_windows(4_u64);
    });
    let window = Duration::from_secs(30);
    assert_eq!(set, Algorithm::SlidingCounter { limit: 8, window, sub_windows: 4 });
}

#[test]
fn a_cost_can_be_any_integer() {
    let clock = clock();
    let limiter = limiter(&clock);
    let run = |cost: &dyn Fn(&mut Call)| {
        let mut call = call(&limiter);
        cost(call.check(&BUCKET, LimitKey::from("a")));
        call.run_blocking()
    };
    assert!(
        run(&|call| {
            call.cost(3_i8);
        })
        .is_ok()
    );
    assert!(matches!(
        run(&|call| {
            call.cost(3_u128);
        }),
        Err(RateLimitError::Limited(_))
    ));
    let exceeds =
        InvalidCall::CostExceedsCapacity { rule: "bucket".into(), cost: u64::MAX, limit: 5 };
    match run(&|call| {
        call.cost(u128::MAX);
    }) {
        Err(RateLimitError::Invalid(mistake)) => assert_eq!(mistake, exceeds),
        other => panic!("{other:?}"),
    }
}

#[test]
fn negative_numbers_are_mistakes() {
    let clock = clock();
    let limiter = limiter(&clock);
    let mistake = |rule: &'static Rule, set: &dyn Fn(&mut Call)| {
        let mut call = call(&limiter);
        set(call.check(rule, LimitKey::whole_rule()));
        match call.run_blocking() {
            Err(RateLimitError::Invalid(mistake)) => mistake,
            other => panic!("{other:?}"),
        }
    };
    let of_cost = mistake(&BUCKET, &|call| _ = call.cost(-1));
    assert_eq!(of_cost, InvalidCall::NegativeCost { rule: "bucket".into(), cost: -1 });
    let says = |rule: &'static Rule, set: &dyn Fn(&mut Call), expected: &str| {
        let expected = format!("rate limit `{}`: {expected}, and cannot be negative", rule.name());
        assert_eq!(mistake(rule, set).to_string(), expected);
    };
    says(&BUCKET, &|call| _ = call.capacity(-1), "`capacity` is -1");
    says(&BUCKET, &|call| _ = call.refill(-2_i8), "`refill` is -2");
    says(&LINE, &|call| _ = call.leak(-3_i64), "`leak` is -3");
    says(&COUNTER, &|call| _ = call.limit(i128::MIN), "`limit` is -9223372036854775808");
    says(&COUNTER, &|call| _ = call.window(-5), "`window` is -5");
    says(&COUNTER, &|call| _ = call.sub_windows(-6_isize), "`sub_windows` is -6");
    // The first one counts, and that of the call is told of its first rule.
    says(&BUCKET, &|call| _ = call.capacity(-1).refill(-1), "`capacity` is -1");
    says(&LINE, &|call| call.wait(-7), "`wait` is -7");
}

#[test]
fn the_numbers_of_a_rule_that_is_off_do_not_matter() {
    let clock = clock();
    let mut call = call(&limiter(&clock));
    call.check(&OFF, LimitKey::whole_rule()).cost(-1).capacity(-1);
    assert!(call.run_blocking().is_ok());
}

#[test]
fn what_only_watches_keeps_no_call_from_running() {
    const EACH: Algorithm =
        Algorithm::TokenBucket { capacity: PER_CALL, refill: Rate::per_second(1) };
    static ENFORCED: Rule = Rule::new("each", EACH);
    static WATCHED: Rule = Rule::new("each", EACH).with_mode(Mode::Shadow);
    let clock = clock();
    let watching = Limiter::builder().clock(Clock::Manual(clock.clone())).in_process(Mode::Shadow);
    for (limiter, rule) in [(limiter(&clock), &WATCHED), (watching, &ENFORCED)] {
        let runs = |set: &dyn Fn(&mut Call)| {
            let mut call = call(&limiter);
            set(call.check(rule, LimitKey::from("a")));
            call.run_blocking().is_ok()
        };
        let numbers: [&dyn Fn(&mut Call); 4] = [
            &|call| _ = call.capacity(-1),
            &|call| _ = call.capacity(u64::MAX),
            &|call| _ = call.capacity(5).refill(0),
            &|call| _ = call.capacity(5).check(rule, LimitKey::from("a")).capacity(5),
        ];
        for (n, set) in numbers.into_iter().enumerate() {
            assert!(runs(set), "{n} of {rule:?}");
        }
    }
    // Beside one that is enforced, that one counts.
    let limiter = limiter(&clock);
    let left = (0..6).filter(|_| {
        let mut call = call(&limiter);
        call.check(&WATCHED, LimitKey::from("a")).capacity(-1);
        call.check(&BUCKET, LimitKey::from("watched beside"));
        call.run_blocking().is_ok()
    });
    assert_eq!(left.count(), 5);
}

#[test]
fn a_call_waits_for_its_turn() {
    let clock = clock();
    let limiter = limiter(&clock);
    let turn = || {
        let mut call = call(&limiter);
        call.wait(2);
        call.check(&LINE, LimitKey::whole_rule());
        call.run()
    };
    let mut context = Context::from_waker(Waker::noop());
    let (mut first, mut second) = (pin!(turn()), pin!(turn()));
    assert!(matches!(first.as_mut().poll(&mut context), Poll::Ready(Ok(()))));
    assert!(second.as_mut().poll(&mut context).is_pending(), "a second behind the first");
    clock.advance(Duration::from_secs(1));
    assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(Ok(()))));
}

#[test]
fn a_longer_line_than_the_wait_refuses() {
    let clock = clock();
    let limiter = limiter(&clock);
    for _ in 0..3 {
        limiter.check_blocking(&Check::new(&LINE, LimitKey::whole_rule())).unwrap();
    }
    let mut call = call(&limiter);
    call.wait(Duration::from_secs(2));
    call.check(&LINE, LimitKey::whole_rule());
    assert!(matches!(call.run_blocking(), Err(RateLimitError::Limited(_))));
}

#[test]
fn a_running_call_can_move_to_another_thread() {
    fn is_send(_: impl Send) {}
    is_send(Call::new().run());
}
