//! The limiter as it is used from code: to look, to reset, and by a handle for one rule and key.

use std::time::Duration;

use ratelimit_kit::store::{Answers, BoxFuture, Embedded, Store};
use ratelimit_kit::{
    Algorithm, Check, Clock, ConfigError, Degraded, InvalidCall, LimitKey, Limiter, ManualClock,
    Mode, OnError, Rate, RateLimitError, Rule, StoreError, key, rate_limit,
};
use test_support::unique;

use test_stage::algorithms::{HOUR, Kind, leaky_bucket, ms, rule, secs, sliding_log, token_bucket};
use test_stage::stage::{Stage, block_on, only, told};

/// What a check gets, whether it is a look at it or the call.
fn got(outcome: &ratelimit_kit::Outcome) -> (bool, Option<Duration>, Duration, u64) {
    (outcome.is_admitted(), outcome.retry_after(), outcome.delay(), outcome.limit())
}

/// A look says what the call then gets, and changes nothing: for every algorithm and cost, at any fill.
#[test]
fn f41_a_peek_is_what_the_call_gets() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.recovering(7, secs(7)));
            let mut rng = fastrand::Rng::with_seed(41);
            for t in (0..40).scan(0, |t, _| {
                *t += rng.u64(0..900);
                Some(*t)
            }) {
                stage.at(t);
                let check = Check::new(&rule, "key").with_cost(1 + (t * 31) % 7);
                let looks = [(); 2].map(|()| block_on(stage.limiter.peek(&check)).unwrap());
                let [look, again] = looks.each_ref().map(|look| only(look.outcomes()));
                assert_eq!(got(look), got(again), "{kind:?} on {} at {t}", stage.name);
                let call = stage.check(&check);
                assert_eq!(got(look), got(&call), "{kind:?} on {} at {t}", stage.name);
                let left = if call.is_admitted() { check.cost() } else { 0 };
                assert_eq!(look.remaining(), call.remaining() + left, "{kind:?} on {}", stage.name);
            }
        }
    }
}

/// Of an exhausted key: what F41 saw was `allowed` with a wait of 0.
#[test]
fn f41_a_peek_at_an_exhausted_key_is_not_allowed() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.recovering(2, secs(10)));
            assert_eq!(stage.hits(&rule, 2), 2);
            let decision = block_on(stage.limiter.peek(&Check::new(&rule, "key"))).unwrap();
            assert!(!decision.is_admitted(), "{kind:?} on {}", stage.name);
            let outcome = only(decision.outcomes());
            let wait = outcome.retry_after().unwrap();
            assert!(wait > ms(1) && wait <= secs(20), "{kind:?} on {}: {wait:?}", stage.name);
            // The wait is exact, as that of a refusal is.
            stage.at(u64::try_from(wait.as_millis()).unwrap() - 1);
            let look = || block_on(stage.limiter.peek(&Check::new(&rule, "key"))).unwrap();
            assert!(!look().is_admitted(), "{kind:?} on {}", stage.name);
            stage.at(u64::try_from(wait.as_millis()).unwrap());
            assert!(look().is_admitted(), "{kind:?} on {}", stage.name);
            stage.at(0);
            // A cost of 0 is still a look at what remains.
            let free =
                block_on(stage.limiter.peek(&Check::new(&rule, "key").with_cost(0))).unwrap();
            assert!(free.is_admitted(), "{kind:?} on {}", stage.name);
        }
    }
}

#[test]
fn f41_a_peek_knows_delays_and_lists() {
    for stage in Stage::both() {
        let line = rule(leaky_bucket(5, Rate::per_second(1)));
        assert_eq!(stage.hits(&line, 2), 2);
        let check = Check::new(&line, "key");
        let look = block_on(stage.limiter.peek(&check)).unwrap();
        assert_eq!((look.is_admitted(), look.delay()), (true, secs(2)), "{}", stage.name);
        let soon = block_on(stage.limiter.peek(&check.clone().with_max_delay(secs(1)))).unwrap();
        assert!(!soon.is_admitted(), "{}", stage.name);
        assert_eq!(only(soon.outcomes()).retry_after(), Some(secs(1)), "{}", stage.name);

        // All or nothing, and each rule says what it says alone.
        let log = rule(sliding_log(3, HOUR));
        let shadow = rule(token_bucket(1, Rate::per_hour(1))).with_mode(Mode::Shadow);
        let list = [check, Check::new(&log, "key").with_cost(2), Check::new(&shadow, "key")];
        for _ in 0..2 {
            let look = block_on(stage.limiter.peek_all(&list)).unwrap();
            let each: Vec<_> =
                look.outcomes().iter().map(|o| (o.is_admitted(), o.remaining())).collect();
            assert_eq!(each, [(true, 3), (true, 3), (true, 1)], "{}", stage.name);
        }
        assert!(stage.limiter.check_all_blocking(&list).is_ok());
        let look = block_on(stage.limiter.peek_all(&list)).unwrap();
        let each: Vec<_> =
            look.outcomes().iter().map(|o| (o.is_admitted(), o.remaining())).collect();
        assert_eq!(each, [(true, 2), (false, 1), (false, 0)], "{}", stage.name);
        assert!(!look.is_admitted());
        assert_eq!(stage.peek(&line).remaining(), 2, "{}", stage.name);
    }
}

/// Mistakes are errors, and what is switched off is not judged.
#[test]
fn f41_a_peek_finds_mistakes() {
    for stage in Stage::both() {
        let rule = rule(token_bucket(2, Rate::per_hour(1)));
        let look = |check: &Check<'_>| block_on(stage.limiter.peek(check));
        for (check, is_empty) in
            [(Check::new(&rule, ""), true), (Check::new(&rule, "key").with_cost(3), false)]
        {
            match look(&check) {
                Err(RateLimitError::Invalid(InvalidCall::EmptyKey { .. })) if is_empty => {}
                Err(RateLimitError::Invalid(InvalidCall::CostExceedsCapacity { .. }))
                    if !is_empty => {}
                other => panic!("on {}: {other:?}", stage.name),
            }
        }
        let off = rule.with_mode(Mode::Off);
        assert!(look(&Check::new(&off, "key")).unwrap().outcomes().is_empty());
    }
}

/// A store that answers nothing.
#[derive(Debug)]
pub(crate) struct Dead;

impl Store for Dead {
    fn decide<'a>(&'a self, _: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async { Err(StoreError::Reply) })
    }
    fn reset<'a>(&'a self, _: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Err(StoreError::Reply) })
    }
}

/// In an outage a look is what the call would get then, and takes nothing of this instance's share.
#[test]
fn f41_a_peek_in_an_outage() {
    let clock = ManualClock::new();
    let limiter = Limiter::builder().store(Dead).clock(Clock::Manual(clock)).build().unwrap();
    let local = rule(token_bucket(2, Rate::per_hour(1)));
    let look = |rule: &Rule| block_on(limiter.peek(&Check::new(rule, "key")));
    for allowed in [true, true, false] {
        for _ in 0..2 {
            let decision = look(&local).unwrap();
            assert_eq!(decision.degraded(), Some(Degraded::Local));
            assert_eq!(decision.is_admitted(), allowed);
        }
        assert_eq!(limiter.check_blocking(&Check::new(&local, "key")).is_ok(), allowed);
    }
    let open = look(&rule(token_bucket(2, Rate::per_hour(1))).with_on_error(OnError::Open));
    assert_eq!(open.unwrap().degraded(), Some(Degraded::Open));
    let closed = look(&rule(token_bucket(2, Rate::per_hour(1))).with_on_error(OnError::Closed));
    assert!(matches!(closed, Err(RateLimitError::Unavailable(_))), "{closed:?}");
}

/// A store of somebody else's that cannot look by itself.
#[derive(Debug)]
struct Plain(Embedded);

impl Store for Plain {
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        self.0.decide(checks)
    }
    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.reset(check)
    }
}

#[test]
fn f41_a_store_that_cannot_look_is_asked_what_remains() {
    let clock = ManualClock::new();
    let store = Plain(Embedded::new().with_clock(Clock::Manual(clock.clone())));
    let limiter = Limiter::builder().store(store).clock(Clock::Manual(clock)).build().unwrap();
    for kind in Kind::ALL {
        let rule = rule(kind.recovering(3, secs(3)));
        let check = Check::new(&rule, "key").with_cost(2);
        for allowed in [true, false] {
            let look = block_on(limiter.peek(&check)).unwrap();
            assert_eq!(look.is_admitted(), allowed, "{kind:?}");
            let call = told(limiter.check_blocking(&check));
            assert_eq!(call.is_admitted(), allowed, "{kind:?}");
            // Never too short.
            assert!(only(look.outcomes()).retry_after() >= call.retry_after(), "{kind:?}");
        }
    }
}

fn sms() -> LimitKey {
    let phone = "138";
    key!("'sms:' + phone")
}

#[test]
fn f43_a_reset_says_whether_there_was_anything() {
    for stage in Stage::both() {
        for kind in Kind::ALL {
            let rule = rule(kind.per(2, HOUR));
            let reset =
                |key: LimitKey| block_on(stage.limiter.reset(&Check::new(&rule, key))).unwrap();
            let told = |key: &str| (kind, stage.name, key.to_owned());
            assert!(!reset(sms()), "{:?}", told("unused"));
            stage.check(&Check::new(&rule, sms()));
            // One value, in which the `:` is escaped.
            assert!(!reset(LimitKey::from("sms:138")), "{:?}", told("another"));
            assert!(reset(sms()), "{:?}", told("used"));
            assert!(!reset(sms()), "{:?}", told("reset"));
            // What is refused leaves nothing to forget.
            let all = Check::new(&rule, "all").with_cost(2);
            assert!(stage.check(&all).is_admitted() && !stage.check(&all).is_admitted());
            assert!(reset(LimitKey::from("all")) && stage.check(&all).is_admitted());
        }
    }
}

#[test]
fn f43_a_reset_judges_its_key() {
    for stage in Stage::both() {
        let rule = rule(token_bucket(2, Rate::per_hour(1)));
        let reset = |key: LimitKey| block_on(stage.limiter.reset(&Check::new(&rule, key)));
        let empty = reset(LimitKey::from(""));
        assert!(
            matches!(empty, Err(RateLimitError::Invalid(InvalidCall::EmptyKey { .. }))),
            "{empty:?}"
        );
        let nowhere = reset(key!("@ip"));
        assert!(
            matches!(nowhere, Err(RateLimitError::Invalid(InvalidCall::NoContext { .. }))),
            "{nowhere:?}"
        );
        // The state that a rule of this name has with another algorithm is another one.
        let other = Rule::named(rule.name(), Algorithm::FixedWindow { limit: 2, window: HOUR });
        assert!(stage.hit(&other).is_admitted());
        assert!(!reset(LimitKey::from("key")).unwrap(), "on {}", stage.name);
        assert!(block_on(stage.limiter.reset(&Check::new(&other, "key"))).unwrap());
    }
}

/// A key without a place of its own is charged where all such keys of its rule are.
#[test]
fn f43_a_reset_knows_the_overflow_budget() {
    let clock = ManualClock::new();
    let limiter = Limiter::builder().max_keys(1).clock(Clock::Manual(clock.clone()));
    let limiter = limiter.build().unwrap();
    let [holder, rule] = [(); 2].map(|()| rule(token_bucket(2, Rate::per_second(1))));
    let check = |rule, key: &'static str| limiter.check_blocking(&Check::new(rule, key)).is_ok();
    let reset = |rule, key: &'static str| block_on(limiter.reset(&Check::new(rule, key))).unwrap();
    assert!(check(&holder, "holder"));
    assert!(check(&rule, "a") && check(&rule, "a"));
    let look = block_on(limiter.peek(&Check::new(&rule, "a"))).unwrap();
    assert!(!look.is_admitted(), "{look:?}");
    // There is no place for an entry that says that it has used nothing, so it stays as it is.
    assert!(!reset(&rule, "a") && !check(&rule, "a"));
    assert!(reset(&holder, "holder"));
    assert!(reset(&rule, "a") && check(&rule, "a"), "now there is");
    clock.advance(secs(60));
    assert!(!reset(&rule, "a"), "fully replenished");
}

/// What this instance has decided in an outage is forgotten as well.
#[test]
fn f43_a_reset_knows_what_was_decided_in_an_outage() {
    /// Answers resets only.
    #[derive(Debug)]
    struct Late;
    impl Store for Late {
        fn decide<'a>(&'a self, _: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
            Box::pin(async { Err(StoreError::Reply) })
        }
        fn reset<'a>(&'a self, _: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
            Box::pin(async { Ok(false) })
        }
    }
    let limiter = Limiter::builder().store(Late).build().unwrap();
    let rule = rule(token_bucket(1, Rate::per_hour(1)));
    let login = limiter.limit(&rule, "key");
    assert!(login.check_blocking().is_ok() && login.check_blocking().is_err());
    assert!(login.reset_blocking().unwrap() && login.check_blocking().is_ok());
}

mod handle {
    use super::*;

    #[rate_limit(
        name = "f43-sms",
        key = "'sms:' + phone + ':' + lower(user.name)",
        capacity = 1,
        refill = "1/h",
        limiter = limiter
    )]
    pub(super) fn send(limiter: &Limiter, phone: &str, user: &User) -> Result<(), RateLimitError> {
        Ok(())
    }

    pub(super) static SMS: Rule = Rule::new("f43-sms", token_bucket(1, Rate::per_hour(1)));

    #[rate_limit(name = "f43-drift", capacity = 1, refill = "1/h", limiter = limiter)]
    pub(super) fn drift(limiter: &Limiter) -> Result<(), RateLimitError> {
        Ok(())
    }

    pub(super) static DRIFT: Rule = Rule::new("f43-drift", token_bucket(2, Rate::per_hour(1)));

    pub(super) struct User {
        pub(super) name: &'static str,
    }

    impl User {
        pub(super) fn key(&self, phone: &str) -> LimitKey {
            key!("'sms:' + phone + ':' + lower(self.name)")
        }
    }
}

/// What the attribute limits, the handle resets.
#[test]
fn f43_a_handle_has_the_key_of_an_annotated_function() {
    for stage in Stage::both() {
        let user = handle::User { name: "Ann" };
        let phone = unique("1:38");
        let send = || handle::send(&stage.limiter, &phone, &user).is_ok();
        assert!(send() && !send(), "on {}", stage.name);
        for key in [user.key(&phone), key!("'sms:' + phone + ':' + lower(user.name)")] {
            let handle = stage.limiter.limit(&handle::SMS, key);
            assert!(!block_on(handle.peek()).unwrap().is_admitted());
            assert!(block_on(handle.check()).is_err());
            assert!(block_on(handle.reset()).unwrap(), "on {}", stage.name);
            assert!(send() && !send(), "on {}", stage.name);
        }
        assert!(!stage.limiter.limit(&handle::SMS, phone.as_str()).reset_blocking().unwrap());
    }
}

/// Other numbers than those of the function are an error that names both places, and no reset of half of it.
#[test]
fn f43_a_handle_that_has_drifted_says_so() {
    let stage = Stage::embedded();
    handle::drift(&stage.limiter).unwrap();
    let handle = stage.limiter.limit(&handle::DRIFT, LimitKey::whole_rule());
    for error in [handle.reset_blocking().unwrap_err(), handle.check_blocking().unwrap_err()] {
        let RateLimitError::Invalid(InvalidCall::Config(error)) = error else { panic!("{error}") };
        assert!(matches!(error, ConfigError::OtherNumbers { .. }), "{error}");
        assert_eq!(error.to_string().matches("direct.rs").count(), 2, "{error}");
    }
}

#[test]
fn a_key_of_the_macro_is_that_of_the_attribute() {
    let (tenant, user) = ("acme", Some("ann"));
    assert_eq!(key!("[tenant, user ?: 'nobody']").as_str(), "acme:ann");
    assert_eq!(key!("tenant"), LimitKey::from("acme"));
    assert_eq!(key!("#tenant + '/' + #tenant", crate = ::ratelimit_kit).as_str(), "acme:/acme");
}

#[test]
fn f47_a_number_of_every_call_is_no_number_of_the_rule() {
    use ratelimit_kit::__private::{PER_CALL, PER_CALL_RATE, PER_CALL_WINDOW};
    for (algorithm, is_there) in [
        (token_bucket(PER_CALL, Rate::per_second(1)), false),
        (token_bucket(5, PER_CALL_RATE), false),
        (leaky_bucket(5, PER_CALL_RATE), false),
        (Algorithm::FixedWindow { limit: PER_CALL, window: HOUR }, false),
        (Algorithm::SlidingLog { limit: 5, window: PER_CALL_WINDOW }, false),
        (Kind::SlidingCounter.per(5, HOUR), true),
        (token_bucket(5, Rate::per_second(1)), true),
    ] {
        let rule = rule(algorithm);
        assert_eq!(rule.algorithm(), is_there.then_some(algorithm));
        let shown = format!("{rule:?} {:?}", Check::new(&rule, "key"));
        assert!(!shown.contains(&u64::MAX.to_string()), "{shown}");
    }
}

mod decision {
    use super::*;

    #[rate_limit(
        name = "f44-burst",
        key = "user",
        capacity = 3,
        refill = "1/h",
        limiter = limiter,
        decision = decision,
    )]
    #[rate_limit(name = "f44-day", key = "user", algo = sliding_log, limit = 10, window = "1d")]
    pub(super) async fn two(limiter: &Limiter, user: &str) -> Result<Vec<u64>, RateLimitError> {
        assert_eq!(decision.degraded(), None);
        Ok(decision.outcomes().iter().map(ratelimit_kit::Outcome::remaining).collect())
    }

    #[rate_limit(name = "f44-blocking", capacity = 3, refill = "1/h", limiter = limiter, decision = seen)]
    pub(super) fn blocking(limiter: &Limiter) -> Result<u64, RateLimitError> {
        Ok(seen.outcomes()[0].remaining())
    }

    #[rate_limit(
        name = "f44-line",
        algo = leaky_bucket,
        capacity = 3,
        leak = "1/s",
        wait = "1500ms",
        limiter = limiter,
        decision = seen,
    )]
    pub(super) async fn line(limiter: &Limiter) -> Result<Duration, RateLimitError> {
        Ok(seen.delay())
    }

    #[rate_limit(capacity = 3, refill = "1/h", limiter = limiter, when = applies, decision = seen)]
    pub(super) async fn outage(
        limiter: &Limiter,
        applies: bool,
    ) -> Result<(usize, Option<Degraded>), RateLimitError> {
        Ok((seen.outcomes().len(), seen.degraded()))
    }
}

#[test]
fn f44_a_body_sees_its_decision() {
    for stage in Stage::both() {
        let user = unique("user");
        let two = || block_on(decision::two(&stage.limiter, &user));
        assert_eq!(two().unwrap(), [2, 9], "on {}", stage.name);
        assert_eq!(two().unwrap(), [1, 8], "on {}", stage.name);
        assert_eq!(decision::blocking(&stage.limiter).unwrap(), 2, "on {}", stage.name);
        assert_eq!(two().unwrap(), [0, 7], "on {}", stage.name);
        assert!(matches!(two(), Err(RateLimitError::Limited(_))), "on {}", stage.name);
    }
}

#[test]
fn f44_a_body_sees_that_nobody_was_asked() {
    let limiter = Limiter::builder().store(Dead).build().unwrap();
    let local = block_on(decision::outage(&limiter, true)).unwrap();
    assert_eq!(local, (1, Some(Degraded::Local)));
    let skipped = block_on(decision::outage(&limiter, false)).unwrap();
    assert_eq!(skipped, (0, None));
}

/// Who leaves the line is refunded, as without a decision.
#[test]
fn f44_a_body_that_waits_sees_its_delay_and_who_leaves_is_refunded() {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    for stage in Stage::both() {
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(block_on(decision::line(&stage.limiter)).unwrap(), Duration::ZERO);
        let rule = Rule::new("f44-line", leaky_bucket(3, Rate::per_second(1)));
        let whole = || {
            let check = Check::new(&rule, LimitKey::whole_rule());
            only(block_on(stage.limiter.peek(&check)).unwrap().outcomes()).remaining()
        };
        assert_eq!(whole(), 2);
        {
            let mut leaves = pin!(decision::line(&stage.limiter));
            let start = std::time::Instant::now();
            // The answer of Redis comes when it comes.
            while whole() > 1 {
                assert!(leaves.as_mut().poll(&mut context).is_pending());
                assert!(start.elapsed() < secs(20), "on {}", stage.name);
            }
            for _ in 0..3 {
                assert!(leaves.as_mut().poll(&mut context).is_pending());
            }
        }
        let start = std::time::Instant::now();
        while whole() < 2 {
            assert!(start.elapsed() < secs(20), "on {}", stage.name);
        }
        let mut waits = pin!(decision::line(&stage.limiter));
        let mut t = 0;
        let delay = loop {
            match waits.as_mut().poll(&mut context) {
                Poll::Ready(delay) => break delay.unwrap(),
                Poll::Pending => {
                    // The wait begins when the answer is there.
                    whole();
                    t += 50;
                    stage.at(t);
                }
            }
            assert!(start.elapsed() < secs(20), "on {}", stage.name);
        };
        assert!(delay <= secs(1) && !delay.is_zero(), "on {}: {delay:?}", stage.name);
    }
}
