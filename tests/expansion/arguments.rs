//! The arguments that say how much, when and whether.

use std::time::Duration;

use ratelimit_kit::{InvalidCall, Rate, RateLimitError, rate_limit};

use crate::support::{Error, LIMITER, limiter, refused};

/// How many of ten calls pass.
fn passed(mut call: impl FnMut() -> bool) -> usize {
    (0..10).filter(|_| call()).count()
}

#[test]
fn every_algorithm() {
    #[rate_limit(algo = token_bucket, capacity = 3, refill = "1/15s", limiter = LIMITER)]
    fn token_bucket() -> Option<()> {
        Some(())
    }
    #[rate_limit(algo = "leaky_bucket", capacity = 3, leak = "10/h", limiter = LIMITER)]
    fn leaky_bucket() -> Option<()> {
        Some(())
    }
    #[rate_limit(algo = fixed_window, limit = 3, window = 60, limiter = LIMITER)]
    fn fixed_window() -> Option<()> {
        Some(())
    }
    #[rate_limit(algo = "sliding_log", limit = 3, window = "250ms", limiter = LIMITER)]
    fn sliding_log() -> Option<()> {
        Some(())
    }
    #[rate_limit(algo = sliding_counter, limit = 3, window = "1h", sub_windows = 10, limiter = LIMITER)]
    fn sliding_counter() -> Option<()> {
        Some(())
    }
    for call in [token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter] {
        assert_eq!(passed(|| call().is_some()), 3);
    }
}

#[test]
fn one_budget_for_everybody_or_one_per_key() {
    #[rate_limit(capacity = 3, refill = 1, limiter = LIMITER)]
    fn together(_id: usize) -> Option<()> {
        Some(())
    }
    #[rate_limit(key = "id", capacity = 3, refill = 1, limiter = LIMITER)]
    fn each(id: usize) -> Option<usize> {
        Some(id)
    }
    let mut id = 0;
    assert_eq!(
        passed(|| together({
            id += 1;
            id
        })
        .is_some()),
        3
    );
    assert_eq!(
        passed(|| each({
            id += 1;
            id
        })
        .is_some()),
        10
    );
}

#[test]
fn costs() {
    #[rate_limit(capacity = 10, refill = 1, cost = 3, limiter = LIMITER)]
    fn literal() -> Option<()> {
        Some(())
    }
    #[rate_limit(capacity = 10, refill = 1, cost = 0, limiter = LIMITER)]
    fn free() -> Option<()> {
        Some(())
    }
    #[rate_limit(name = "items", capacity = 10, refill = 1, cost = items.len(), limiter = LIMITER)]
    fn expression(items: &[u8]) -> Result<usize, Error> {
        Ok(items.len())
    }
    #[rate_limit(name = "signed", capacity = 10, refill = 1, cost = amount, limiter = LIMITER)]
    fn signed(amount: i64) -> Result<i64, Error> {
        Ok(amount)
    }
    #[rate_limit(name = "huge", capacity = 10, refill = 1, cost = amount, limiter = LIMITER)]
    fn huge(amount: u128) -> Result<u128, Error> {
        Ok(amount)
    }
    assert_eq!(passed(|| literal().is_some()), 3);
    assert_eq!(passed(|| free().is_some()), 10);
    assert_eq!(expression(&[0; 6]).unwrap(), 6);
    assert!(refused(expression(&[0; 6])));
    assert_eq!(expression(&[0; 4]).unwrap(), 4);
    let mistake = |result| match result {
        Err(Error::Limited(RateLimitError::Invalid(mistake))) => mistake,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        mistake(signed(-1).map(drop)),
        InvalidCall::NegativeCost { rule: "signed".into(), cost: -1 }
    );
    let too_much =
        InvalidCall::CostExceedsCapacity { rule: "huge".into(), cost: u64::MAX, limit: 10 };
    assert_eq!(mistake(huge(u128::MAX).map(drop)), too_much);
}

struct Plan {
    burst: u32,
    refill: Rate,
    window: Duration,
    parts: u8,
    free: bool,
}

const PLAN: Plan = Plan {
    burst: 4,
    refill: Rate::per_hour(1),
    window: Duration::from_secs(60),
    parts: 6,
    free: false,
};

#[test]
fn numbers_that_are_read_per_call() {
    #[rate_limit(key = "id", capacity = plan.burst, refill = plan.refill, limiter = LIMITER)]
    fn bucket(id: u8, plan: &Plan) -> Option<u8> {
        Some(id)
    }
    #[rate_limit(algo = sliding_counter, limit = plan.burst + 1, window = plan.window, sub_windows = plan.parts, limiter = LIMITER)]
    fn counter(plan: &Plan) -> Option<u32> {
        Some(plan.burst)
    }
    #[rate_limit(algo = leaky_bucket, capacity = 2 * 3, leak = i64::from(rate), limiter = LIMITER)]
    fn line(rate: i32) -> Option<i32> {
        Some(rate)
    }
    #[rate_limit(algo = fixed_window, limit = limit, window = seconds, limiter = LIMITER)]
    fn window(limit: &u16, seconds: i8) -> Option<i8> {
        Some(seconds)
    }
    assert_eq!(passed(|| bucket(1, &PLAN).is_some()), 4);
    assert_eq!(passed(|| bucket(2, &Plan { burst: 2, ..PLAN }).is_some()), 2);
    assert_eq!(passed(|| bucket(3, &Plan { burst: 0, ..PLAN }).is_some()), 0);
    assert_eq!(passed(|| counter(&PLAN).is_some()), 5);
    assert_eq!(passed(|| line(1).is_some()), 6);
    assert_eq!(passed(|| window(&7, 60).is_some()), 7);
}

#[test]
fn a_negative_number_is_a_mistake_and_no_refusal() {
    #[rate_limit(capacity = burst, refill = 1, limiter = LIMITER)]
    fn f(burst: i32) -> Result<i32, Error> {
        Ok(burst)
    }
    assert!(matches!(f(-1), Err(Error::Limited(RateLimitError::Invalid(InvalidCall::Config(_))))));
}

#[test]
fn a_rule_that_does_not_apply_costs_nothing_and_computes_nothing() {
    #[rate_limit(key = tenant(plan), capacity = 2, refill = 1, when = !plan.free, limiter = LIMITER)]
    fn f(plan: &Plan) -> Option<bool> {
        Some(plan.free)
    }
    fn tenant(plan: &Plan) -> u32 {
        assert!(!plan.free, "the key of a rule that does not apply");
        plan.burst
    }
    assert_eq!(passed(|| f(&Plan { free: true, ..PLAN }).is_some()), 10);
    assert_eq!(passed(|| f(&PLAN).is_some()), 2);
}

#[test]
fn when_can_be_any_condition() {
    #[derive(PartialEq)]
    struct Level {
        n: u8,
    }
    #[rate_limit(capacity = 1, refill = 1, when = level == Level { n: 1 }, limiter = LIMITER)]
    fn f(level: Level) -> Option<u8> {
        Some(level.n)
    }
    assert_eq!(passed(|| f(Level { n: 0 }).is_some()), 10);
    assert_eq!(passed(|| f(Level { n: 1 }).is_some()), 1);
}

#[test]
fn modes() {
    #[rate_limit(capacity = 1, refill = 1, mode = enforce, limiter = LIMITER)]
    fn enforce() -> Option<()> {
        Some(())
    }
    #[rate_limit(capacity = 1, refill = 1, mode = "shadow", limiter = LIMITER)]
    fn shadow() -> Option<()> {
        Some(())
    }
    #[rate_limit(capacity = 1, refill = 1, mode = off, limiter = LIMITER)]
    fn off() -> Option<()> {
        Some(())
    }
    assert_eq!(passed(|| enforce().is_some()), 1);
    assert_eq!(passed(|| shadow().is_some()), 10);
    assert_eq!(passed(|| off().is_some()), 10);
}

#[test]
fn limiters_of_ones_own() {
    struct Service {
        limiter: ratelimit_kit::Limiter,
    }
    impl Service {
        #[rate_limit(capacity = 2, refill = 1, limiter = self.limiter)]
        fn field(&self) -> Option<()> {
            Some(())
        }
        #[rate_limit(capacity = 2, refill = 1, limiter = self.limiter())]
        fn method(&self) -> Option<()> {
            Some(())
        }
        #[rate_limit(capacity = 2, refill = 1, limiter = &self.limiter)]
        fn reference(&self) -> Option<()> {
            Some(())
        }
        fn limiter(&self) -> &ratelimit_kit::Limiter {
            &self.limiter
        }
    }
    for _ in 0..2 {
        let service = Service { limiter: limiter() };
        assert_eq!(passed(|| service.field().is_some()), 2);
        assert_eq!(passed(|| service.method().is_some()), 2);
        assert_eq!(passed(|| service.reference().is_some()), 2);
    }
    #[rate_limit(capacity = 2, refill = 1, limiter = std::sync::Arc::clone(limiter))]
    fn shared(limiter: &std::sync::Arc<ratelimit_kit::Limiter>) -> Option<()> {
        Some(())
    }
    let limiter = std::sync::Arc::new(limiter());
    assert_eq!(passed(|| shared(&limiter).is_some()), 2);
}

#[test]
fn a_group_does_not_change_the_answer() {
    #[rate_limit(key = "user", capacity = 2, refill = 1, group = tenant, limiter = LIMITER)]
    #[rate_limit(name = "group-tenants", key = "tenant", capacity = 3, refill = 1)]
    fn f(tenant: &str, user: u8) -> Option<u8> {
        Some(user)
    }
    assert_eq!(passed(|| f("t", 1).is_some()), 2);
    assert_eq!(passed(|| f("t", 2).is_some()), 1);
}

#[test]
fn the_crate_can_have_another_name() {
    mod renamed {
        pub(super) use ratelimit_kit as kit;
    }
    #[renamed::kit::rate_limit(capacity = 2, refill = 1, crate = renamed::kit, limiter = LIMITER)]
    fn f() -> Option<()> {
        Some(())
    }
    assert_eq!(passed(|| f().is_some()), 2);
}

mod paced {
    use std::pin::pin;
    use std::sync::LazyLock;
    use std::task::{Context, Waker};

    use ratelimit_kit::{Clock, Limiter, ManualClock};

    use super::*;

    static CLOCK: LazyLock<ManualClock> = LazyLock::new(ManualClock::new);
    static PACED: LazyLock<Limiter> =
        LazyLock::new(|| Limiter::builder().clock(Clock::Manual(CLOCK.clone())).build().unwrap());

    #[rate_limit(algo = leaky_bucket, capacity = 10, leak = 1, wait = "2s", limiter = PACED)]
    async fn checkout() -> Result<(), Error> {
        Ok(())
    }

    #[test]
    fn a_call_waits_for_its_turn_and_no_longer_than_it_may() {
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = |call: &mut std::pin::Pin<&mut _>| {
            std::future::Future::poll(std::pin::Pin::as_mut(call), &mut context)
        };
        let (mut first, mut second) = (pin!(checkout()), pin!(checkout()));
        let (mut third, mut fourth) = (pin!(checkout()), pin!(checkout()));
        assert!(poll(&mut first).is_ready());
        assert!(poll(&mut second).is_pending());
        assert!(poll(&mut third).is_pending());
        match poll(&mut fourth) {
            std::task::Poll::Ready(answer) => assert!(refused(answer), "3 s are too long"),
            std::task::Poll::Pending => panic!("3 s are too long"),
        }
        CLOCK.advance(Duration::from_secs(1));
        assert!(poll(&mut second).is_ready());
        assert!(poll(&mut third).is_pending());
        CLOCK.advance(Duration::from_secs(1));
        assert!(poll(&mut third).is_ready());
    }
}
