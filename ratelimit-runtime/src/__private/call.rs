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
    /// The store of this limiter must be asked.
    Ask(Limiter),
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
            Ok(Start::Ask(limiter)) => {
                Run::asking(Question::new(|caller| mem::take(self).ask(limiter, caller)))
            }
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
        let (decision, place) = if let Some(entered) = limiter.try_enter(&checks, waits) {
            entered?
        } else {
            let ask = |caller| async move { limiter.enter(checks, waits, &caller).await };
            let (decision, place) = Question::new(ask).await?;
            (decision, Some(place))
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
            return Ok(match limiter.try_enter(&self.checks, true) {
                None => Start::Ask(limiter.clone()),
                Some(entered) => {
                    entered?.1.map_or(Start::Admitted, |place| Start::Wait(Box::new(place)))
                }
            });
        }
        match limiter.try_check_all(&self.checks) {
            None => Ok(Start::Ask(limiter.clone())),
            Some(delay) => delay.map(|_| Start::Admitted),
        }
    }

    /// Asks the store, after [`start`](Self::start) said so. The limiter is the one that it has found: finding it
    /// looks at the rules as well.
    async fn ask(
        self,
        limiter: Limiter,
        caller: Caller,
    ) -> Option<Result<Option<Place<'static>>, RateLimitError>> {
        let entered = limiter.enter(self.checks, self.wait.is_some(), &caller).await?;
        Some(entered.map(|(_, place)| Some(place)))
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
        if limiter.is_shadow() {
            return Ok(Some(limiter));
        }
        if let Some((negative, first)) = self.negative.zip(self.checks.first()) {
            return Err(limiter.invalid(&self.checks, negative.report(first.rule())));
        }
        for check in self.checks.iter().filter(|check| !check.is_shadow()) {
            check.rule().register().map_err(|error| mistaken(error.into()))?;
            limiter.warn_of_default_name(check.rule());
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

    /// The rule of the last check, unless it is off or in shadow mode: then its numbers keep no call
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
mod tests;
