//! [`Call`]: the checks of one call of an annotated function.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::number::{Count, IntoRate, IntoWindow, Negative};
use super::run::Run;
use crate::decision::{Decision, RateLimitError};
use crate::error::{Argument, Fault, InvalidCall, InvalidNumber};
use crate::key::LimitKey;
use crate::limiter::{Caller, Checks, Limiter, Place, Question, mistaken};
use crate::rule::{Algorithm, Check, Mode, Rate, Rule};
use crate::store::BoxFuture;

/// How a call begins.
enum Start {
    /// The body may run.
    Admitted,
    /// It may, when its turn has come.
    Wait(Box<Place<'static>>),
    /// The store must be asked.
    Ask,
}

/// The checks of one call. Owns all it needs, so that nothing is borrowed while it waits.
#[derive(Debug, Default)]
#[must_use = "a call decides nothing until it is run"]
pub struct Call {
    checks: Checks,
    limiter: Option<Limiter>,
    wait: Option<Duration>,
    group: Option<Arc<LimitKey>>,
    /// The first number of the call that is negative, which has no other way to be reported.
    negative: Option<BelowZero>,
}

/// A number below zero.
#[derive(Clone, Copy, Debug)]
struct BelowZero {
    /// Whose number it is; `None` if it is the whole call's.
    rule: Option<&'static Rule>,
    /// What it was given for; `None` for a cost.
    argument: Option<Argument>,
    value: i64,
}

impl BelowZero {
    /// The mistake, which is logged if those who run the service can mend it.
    #[cold]
    fn report(self, first: &Rule) -> InvalidCall {
        let rule = self.rule.unwrap_or(first);
        let Some(argument) = self.argument else {
            return InvalidCall::NegativeCost { rule: rule.name().into(), cost: self.value };
        };
        let number = InvalidNumber::new(argument, Fault::Negative(self.value));
        let mistake = InvalidCall::Config(rule.invalid(number));
        rule.log_mistake(&mistake);
        mistake
    }
}

impl Call {
    /// No checks yet, on the limiter of the process.
    #[inline]
    pub fn new() -> Self {
        let limiter = Limiter::of_scope();
        Self { checks: Checks::new(), limiter, wait: None, group: None, negative: None }
    }

    /// On a limiter of the function's own choice. Before all checks: a key may need its secret.
    pub fn on(&mut self, limiter: &Limiter) {
        self.limiter = Some(limiter.clone());
    }

    /// The hash tag that puts the rules of this call into one slot of a Redis Cluster. All other
    /// stores keep them together anyway.
    pub fn group(&mut self, tag: LimitKey) {
        self.group = Some(Arc::new(tag));
    }

    /// How long the call may wait for its turn in the line of a leaky bucket. Before all checks.
    pub fn wait(&mut self, longest: impl IntoWindow) {
        match longest.into_window() {
            Ok(longest) => self.wait = Some(longest),
            Err(Negative(value)) => {
                let negative = BelowZero { rule: None, argument: Some(Argument::Wait), value };
                self.negative.get_or_insert(negative);
            }
        }
    }

    /// The secret for `hash(..)` in a key.
    pub fn secret(&self) -> Option<&[u8]> {
        match &self.limiter {
            Some(limiter) => limiter.key_secret(),
            None => Limiter::installed().ok().and_then(Limiter::key_secret),
        }
    }

    /// Adds a check. What follows is about this one.
    #[inline]
    pub fn check(&mut self, rule: &'static Rule, key: LimitKey) -> &mut Self {
        let mut check = Check::new(rule, key);
        if let Some(longest) = self.wait {
            check = check.with_max_delay(longest);
        }
        if let Some(group) = &self.group {
            check = check.in_group(group.clone());
        }
        self.checks.push(check);
        self
    }

    /// How many permits it takes.
    pub fn cost(&mut self, cost: impl Count) -> &mut Self {
        match cost.count() {
            Ok(cost) => self.change(|check| check.with_cost(cost)),
            Err(Negative(cost)) => self.negative(None, cost),
        }
    }

    /// A bucket's capacity for this call.
    pub fn capacity(&mut self, number: impl Count) -> &mut Self {
        self.count(Argument::Capacity, number.count())
    }

    /// A window's limit for this call.
    pub fn limit(&mut self, number: impl Count) -> &mut Self {
        self.count(Argument::Limit, number.count())
    }

    /// A token bucket's rate for this call.
    pub fn refill(&mut self, rate: impl IntoRate) -> &mut Self {
        self.rate(Argument::Refill, rate.into_rate())
    }

    /// A leaky bucket's rate for this call.
    pub fn leak(&mut self, rate: impl IntoRate) -> &mut Self {
        self.rate(Argument::Leak, rate.into_rate())
    }

    /// A window's length for this call.
    pub fn window(&mut self, window: impl IntoWindow) -> &mut Self {
        let new = window.into_window();
        self.number(Argument::Window, new, |algorithm, new| set(algorithm.window_mut(), new))
    }

    /// A sliding counter's number of parts for this call.
    pub fn sub_windows(&mut self, number: impl Count) -> &mut Self {
        // A number that does not fit is far above the maximum, which is reported.
        let new = number.count().map(|new| u32::try_from(new).unwrap_or(u32::MAX));
        self.number(Argument::SubWindows, new, |algorithm, new| {
            set(algorithm.sub_windows_mut(), new);
        })
    }

    /// Decides all checks, at once if that takes no waiting, and waits for the turn of the call if it may.
    /// `Ok`: the body may run. There are no checks afterwards.
    pub fn run(&mut self) -> Run {
        // Where it is: to move it would take as long as to decide it.
        match self.start() {
            Ok(Start::Admitted) => Run::admitted(),
            Ok(Start::Wait(place)) => Run::queued_for(*place),
            Ok(Start::Ask) => Run::asking(Question::new(|caller| mem::take(self).ask(caller))),
            Err(error) => Run::limited(error),
        }
    }

    /// As [`run`](Self::run), for functions that are not async.
    pub fn run_blocking(self) -> Result<(), RateLimitError> {
        self.decide_blocking().map(drop)
    }

    /// As [`run`](Self::run), for a body that wants to see the decision.
    pub fn decide(&mut self) -> BoxFuture<'static, Result<Decision, RateLimitError>> {
        Box::pin(mem::take(self).decided())
    }

    /// As [`decide`](Self::decide), for functions that are not async.
    pub fn decide_blocking(self) -> Result<Decision, RateLimitError> {
        let Some(limiter) = self.limiter()? else { return Ok(Decision::unasked()) };
        let decision = limiter.check_all_blocking(&self.checks)?;
        if let Some(delay) = self.delay(decision.delay()) {
            limiter.sleep_blocking(delay);
        }
        Ok(decision)
    }

    async fn decided(self) -> Result<Decision, RateLimitError> {
        let Some(limiter) = self.limiter()?.cloned() else { return Ok(Decision::unasked()) };
        let (checks, waits) = (self.checks, self.wait.is_some());
        let entered = limiter.decide_entering_now(&checks, waits);
        let (decision, place) = if let Some(entered) = entered {
            entered?
        } else {
            let ask =
                |caller| async move { limiter.decide_entering_later(checks, waits, &caller).await };
            Question::new(ask).await?
        };
        match place {
            Some(place) if !place.is_due() => place.turn().await,
            place => place.into_iter().for_each(Place::take),
        }
        Ok(decision)
    }

    /// Decides at once, if that takes no waiting.
    fn start(&self) -> Result<Start, RateLimitError> {
        let Some(limiter) = self.limiter()? else { return Ok(Start::Admitted) };
        if self.wait.is_some() {
            let Some(entered) = limiter.enter_now(&self.checks) else { return Ok(Start::Ask) };
            return Ok(entered?.map_or(Start::Admitted, |place| Start::Wait(Box::new(place))));
        }
        let Some(delay) = limiter.check_all_now(&self.checks) else { return Ok(Start::Ask) };
        delay.map(|_| Start::Admitted)
    }

    /// Asks the store, after [`start`](Self::start) said so.
    async fn ask(self, caller: Caller) -> Option<Result<Option<Place<'static>>, RateLimitError>> {
        let limiter = match self.limiter() {
            Ok(Some(limiter)) => limiter.clone(),
            Ok(None) => return Some(Ok(None)),
            Err(error) => return Some(Err(error)),
        };
        let entered = limiter.enter_later(self.checks, self.wait.is_some(), &caller).await?;
        Some(entered.map(Some))
    }

    /// The limiter that decides; `None` when there is nothing to decide.
    fn limiter(&self) -> Result<Option<&Limiter>, RateLimitError> {
        if self.checks.is_empty() {
            return Ok(None);
        }
        let limiter = match &self.limiter {
            Some(limiter) => limiter,
            None => Limiter::installed_for_call()?,
        };
        if limiter.is_off() {
            return Ok(None);
        }
        if limiter.only_watches() {
            return Ok(Some(limiter));
        }
        if let Some((negative, first)) = self.negative.zip(self.checks.first()) {
            return Err(limiter.invalid(&self.checks, negative.report(first.rule())));
        }
        for check in self.checks.iter().filter(|check| !check.is_shadow()) {
            check.rule().register().map_err(|error| mistaken(error.into()))?;
            limiter.tell_of_name(check.rule());
        }
        Ok(Some(limiter))
    }

    /// The delay, if the call waits for its turn.
    fn delay(&self, delay: Duration) -> Option<Duration> {
        self.wait.map(|_| delay).filter(|delay| !delay.is_zero())
    }

    fn count(&mut self, argument: Argument, number: Result<u64, Negative>) -> &mut Self {
        self.number(argument, number, |algorithm, new| *algorithm.limit_mut() = new)
    }

    fn rate(&mut self, argument: Argument, rate: Result<Rate, Negative>) -> &mut Self {
        self.number(argument, rate, |algorithm, new| set(algorithm.rate_mut(), new))
    }

    /// Sets one number of the last check.
    fn number<T>(
        &mut self,
        argument: Argument,
        number: Result<T, Negative>,
        set: impl FnOnce(&mut Algorithm, T),
    ) -> &mut Self {
        match number {
            Ok(number) => self.change(|check| {
                let mut numbers = check.algorithm();
                set(&mut numbers, number);
                check.with_algorithm(numbers)
            }),
            Err(Negative(value)) => self.negative(Some(argument), value),
        }
    }

    fn change(&mut self, change: impl FnOnce(Check<'static>) -> Check<'static>) -> &mut Self {
        if let Some(check) = self.checks.pop() {
            self.checks.push(change(check));
        }
        self
    }

    /// The rule of the last check, unless it is off or only watches: then its numbers keep no call
    /// from running.
    fn applied_rule(&self) -> Option<&'static Rule> {
        let rule = self.checks.last()?.rule();
        (rule.mode() == Mode::Enforce).then_some(rule)
    }

    #[cold]
    fn negative(&mut self, argument: Option<Argument>, value: i64) -> &mut Self {
        if let Some(rule) = self.applied_rule() {
            let rule = Some(rule);
            self.negative.get_or_insert(BelowZero { rule, argument, value });
        }
        self
    }
}

/// Sets a number that the algorithm has. The attribute gives it no other.
fn set<T>(number: Option<&mut T>, new: T) {
    if let Some(number) = number {
        *number = new;
    }
}

#[cfg(test)]
mod tests {
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
            let expected =
                format!("rate limit `{}`: {expected}, and cannot be negative", rule.name());
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
        let watching =
            Limiter::builder().clock(Clock::Manual(clock.clone())).in_process(Mode::Shadow);
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
}
