//! The handle that callers hold: a store with its policies.
//!
//! Half of it is documentation of what users call. The rest is the steps of one decision, which are read
//! together: active checks, validation, the store, and what is recorded.

mod builder;
mod environment;
mod events;
mod fallback;
mod handle;
mod installed;
mod latency;
mod outage_log;
mod place;
mod question;
mod resets;
mod same_budget;
mod start;

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

pub use self::builder::LimiterBuilder;
use self::events::Events;
use self::fallback::Fallback;
pub use self::handle::RateLimit;
#[cfg(feature = "testing")]
pub(crate) use self::installed::OF_SCOPE;
use self::latency::Latency;
use self::outage_log::OutageLog;
pub(crate) use self::place::{Checks, Place};
pub(crate) use self::question::{Caller, Question};
use self::resets::Resets;
use crate::algo::Resolution;
use crate::clock::Clock;
use crate::context::RequestContext;
use crate::decision::{self, Decision, Limited, RateLimitError, Unavailable};
use crate::degraded::Degraded;
use crate::driver;
use crate::error::{ConfigError, InvalidCall, StoreError};
use crate::key::{LimitKey, Missing};
use crate::rule::{Check, Mode, OnError, Rule};
use crate::store::{Answers, BoxFuture, Charges, Store};
use crate::telemetry::{self, Series};

/// The most checks in one call: a script is not asked to do more at a time.
const MAX_CHECKS: usize = 64;

/// A store with its policies. Cheap to clone; clones are one limiter.
///
/// ```
/// # use ratelimit_runtime::{Algorithm, Check, Limiter, Rate, RateLimitError, Rule};
/// static LOGIN: Rule =
///     Rule::new("login", Algorithm::TokenBucket { capacity: 1, refill: Rate::per_minute(1) });
///
/// let limiter = Limiter::builder().build()?;
/// assert!(limiter.check_blocking(&Check::new(&LOGIN, "alice")).is_ok());
/// let refused = limiter.check_blocking(&Check::new(&LOGIN, "alice"));
/// assert!(matches!(refused, Err(RateLimitError::Limited(_))));
/// # Ok::<(), ratelimit_runtime::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Limiter {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    /// What it counts outlives the program, under the names of the rules.
    is_redis: bool,
    /// Whether a thread may be blocked until the store answers.
    blocking: bool,
    clock: Clock,
    deadline: Duration,
    on_error: OnError,
    /// Of which service the rules are that do not say one.
    service: Option<Box<str>>,
    mode: Mode,
    fallback: Fallback,
    outages: Arc<OutageLog>,
    latency: Latency,
    events: Events,
    resets: Resets,
    /// Whether a wait on a manual clock moves that clock, instead of waiting for somebody else to.
    auto_advance: bool,
    /// For `hash(…)` in keys.
    key_secret: Option<Box<[u8]>>,
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("store", &self.shared.store)
            .field("clock", &self.shared.clock)
            .field("deadline", &self.shared.deadline)
            .field("on_error", &self.shared.on_error)
            .finish_non_exhaustive()
    }
}

impl Limiter {
    /// Decides one check: `Ok` if the call may go on.
    ///
    /// A future that is dropped before its end may have been charged, and is not refunded: at most its own
    /// cost is gone. Calls of annotated functions and rules of a layer are.
    ///
    /// Of a leaky bucket it may go on after the decision's [delay](Decision::delay): the caller waits that long, or
    /// it does not pace.
    pub async fn check(&self, check: &Check<'_>) -> Result<Decision, RateLimitError> {
        self.check_all(std::slice::from_ref(check)).await
    }

    /// Decides a list of checks, all or nothing: if one refuses, none is charged.
    ///
    /// Checks of one rule and key are one, with their costs added up to the limit at most, and have one outcome:
    /// whether keys are equal is often up to callers. A list of more than 64 is a mistake of the caller's.
    pub async fn check_all(&self, checks: &[Check<'_>]) -> Result<Decision, RateLimitError> {
        into_result(self.decide_async(checks).await?)
    }

    /// Like [`check`](Self::check), for functions that are not async.
    ///
    /// May be called anywhere, also inside an async runtime: the calling thread is blocked for as
    /// long as the store takes, and no longer than the deadline.
    pub fn check_blocking(&self, check: &Check<'_>) -> Result<Decision, RateLimitError> {
        self.check_all_blocking(std::slice::from_ref(check))
    }

    /// Like [`check_all`](Self::check_all), for functions that are not async.
    pub fn check_all_blocking(&self, checks: &[Check<'_>]) -> Result<Decision, RateLimitError> {
        if let Some(decision) = self.try_decide(checks) {
            return into_result(decision?);
        }
        if !self.shared.blocking {
            let mistake =
                misconfigured(&self.active_checks(checks), ConfigError::BlockingConnection);
            return Err(mistaken(mistake));
        }
        if let Err(cause) = driver::is_elsewhere() {
            return into_result(self.conclude(&self.active_checks(checks), Err(cause))?.0);
        }
        into_result(driver::block_on(self.decide_by_asking(checks))?)
    }

    /// Like [`check_all`](Self::check_all), if it takes no waiting: the delay of the call. There is no
    /// decision when it is admitted, because to move one is a good part of what it costs.
    pub(crate) fn try_check_all(
        &self,
        checks: &[Check<'_>],
    ) -> Option<Result<Duration, RateLimitError>> {
        let active = match self.valid_checks(checks) {
            Ok(active) if active.is_empty() => return Some(Ok(Duration::ZERO)),
            Ok(active) => active,
            Err(mistake) => return Some(Err(self.invalid(checks, mistake))),
        };
        Some(match self.shared.store.decide_now(&active)? {
            Ok(answers) if decision::admits(&active, &answers) => {
                self.record_answers(&active, &answers);
                Ok(decision::delay(&active, &answers))
            }
            answers => {
                let answers = answers.map(|answers| (answers, Charges::new()));
                self.conclude(&active, answers)
                    .and_then(|made| into_result(made.0))
                    .map(|made| made.delay())
            }
        })
    }

    /// Whether the whole limiter is switched off.
    pub(crate) fn is_off(&self) -> bool {
        self.shared.mode == Mode::Off
    }

    /// Whether no rule of the whole limiter refuses.
    pub(crate) fn is_shadow(&self) -> bool {
        self.shared.mode == Mode::Shadow
    }

    /// Says, once in a process, that a rule in Redis is called after its function.
    pub(crate) fn warn_of_default_name(&self, rule: &Rule) {
        static IS_LOGGED: AtomicBool = AtomicBool::new(false);
        if self.shared.is_redis
            && !rule.has_written_name()
            && !IS_LOGGED.load(Ordering::Relaxed)
            && !IS_LOGGED.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                rule = rule.name(),
                "a rule in Redis is called after its function, and its budgets begin anew when that moves, \
                 perhaps with another compiler too (write `name = ..`; only the first such rule is logged)"
            );
        }
    }

    /// What a check would get now: as [`check`](Self::check), and charges nothing. A refusal is a decision
    /// that is not [`admitted`](Decision::is_admitted), and no error.
    ///
    /// It is no call: nothing is counted, and header fields do not speak of it. By the time that somebody
    /// acts on it, others may have taken what was there: who wants a permit takes it, by `check`. With a cost
    /// of 0 it is always admitted, and says what remains.
    pub async fn peek(&self, check: &Check<'_>) -> Result<Decision, RateLimitError> {
        self.peek_all(std::slice::from_ref(check)).await
    }

    /// As [`peek`](Self::peek), for a list of checks.
    pub async fn peek_all(&self, checks: &[Check<'_>]) -> Result<Decision, RateLimitError> {
        let active = match self.valid_checks(checks) {
            Ok(active) if active.is_empty() => return Ok(Decision::unasked()),
            Ok(active) => active,
            Err(mistake) => return Err(mistake.into()),
        };
        match self.at_once_or_in_time(self.shared.store.peek(&active)).await {
            Ok(answers) => Ok(Decision::new(&active, &answers)),
            Err(StoreError::Config(error)) => Err(misconfigured(&active, error).into()),
            Err(cause) => match self.policy_on_failure(&active) {
                OnFailure::Closed(rule) => Err(unavailable(rule, cause)),
                OnFailure::Open => Ok(Decision::unasked().without_store(Degraded::Open, cause)),
                OnFailure::Local => {
                    let answers = self.shared.fallback.peek(&active);
                    let answers = answers.map_err(|error| misconfigured(&active, error))?;
                    Ok(Decision::new(&active, &answers).without_store(Degraded::Local, cause))
                }
            },
        }
    }

    /// Like [`peek`](Self::peek), for functions that are not async.
    pub fn peek_blocking(&self, check: &Check<'_>) -> Result<Decision, RateLimitError> {
        self.blocking(check, self.peek(check))
    }

    /// Forgets what is used of the key of a check: the budget is back in its initial state. `true` if there
    /// was anything to forget: on Redis, if there was a state of the key, which stays there until its budget is
    /// fully replenished and perhaps for a minute longer; in this process, if something was used of it.
    ///
    /// `false` often means that it is not the key that was meant. `LimitKey::from("sms:1")` is one value, in which the
    /// `:` is escaped: what an attribute's `key = "'sms:' + phone"` makes, the macro `key!` makes as well. The state
    /// that the same rule had with another kind of algorithm is another one, and stays.
    pub async fn reset(&self, check: &Check<'_>) -> Result<bool, RateLimitError> {
        let check = &*self.at_home(check);
        validate_key(check).map_err(|mistake| logged(Some(check), mistake))?;
        // Before and after: a call may be charged until the store has done it.
        self.shared.resets.note(check);
        let was_local = self.shared.fallback.reset(check).await;
        let reset = self.at_once_or_in_time(self.shared.store.reset(check)).await;
        self.shared.resets.note(check);
        match reset {
            Ok(was_there) => Ok(was_there || was_local),
            Err(StoreError::Config(error)) => {
                Err(misconfigured(std::slice::from_ref(check), error).into())
            }
            Err(cause) => Err(unavailable(check.rule(), cause)),
        }
    }

    /// Like [`reset`](Self::reset), for functions that are not async.
    pub fn reset_blocking(&self, check: &Check<'_>) -> Result<bool, RateLimitError> {
        self.blocking(check, self.reset(check))
    }

    /// One rule and one key on this limiter.
    pub fn limit<'a>(&self, rule: &'a Rule, key: impl Into<LimitKey>) -> RateLimit<'a> {
        RateLimit::new(rule, key).with_limiter(self)
    }

    /// Says whether the store can answer: waits for its first attempt to connect, and asks it. For a
    /// start that must not begin degraded, and for a readiness probe.
    ///
    /// Once it is Ok, Redis has the scripts: the first call of any rule takes one round trip. Over a
    /// connection that was handed in, this is what uploads them.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.shared.store.ready().await
    }

    /// As [`ready`](Self::ready), for programs that are not async.
    pub fn ready_blocking(&self) -> Result<(), StoreError> {
        driver::is_elsewhere()?;
        driver::block_on(self.ready())
    }

    /// Waits, on the limiter's clock.
    pub(crate) async fn sleep(&self, span: Duration) {
        match &self.shared.clock {
            Clock::Manual(clock) if self.shared.auto_advance => clock.advance(span),
            Clock::Manual(clock) => clock.sleep(span).await,
            Clock::Server | Clock::Caller => driver::sleep(span).await,
        }
    }

    /// Waits on the calling thread, on the limiter's clock.
    pub(crate) fn sleep_blocking(&self, span: Duration) {
        match &self.shared.clock {
            Clock::Manual(clock) if self.shared.auto_advance => clock.advance(span),
            Clock::Manual(clock) => driver::block_on(clock.sleep(span)),
            Clock::Server | Clock::Caller => std::thread::sleep(span),
        }
    }

    /// The secret for `hash(…)` in keys.
    pub(crate) fn key_secret(&self) -> Option<&[u8]> {
        self.shared.key_secret.as_deref()
    }

    /// The checks that count, as the limiter's mode and the rules' say, and one for each budget. Nearly always
    /// that is all of them, and then nothing is copied.
    fn active_checks<'c, 'r>(&self, checks: &'c [Check<'r>]) -> Cow<'c, [Check<'r>]> {
        let mut checks = self.switched_on(checks);
        if checks.iter().any(|check| self.is_home_of(check)) {
            checks = checks.iter().map(|check| self.at_home(check).into_owned()).collect();
        }
        same_budget::once_each(checks, self)
    }

    /// Whether the service on a check's rule is the limiter's own.
    #[inline]
    fn is_home_of(&self, check: &Check<'_>) -> bool {
        self.shared.service.as_deref().is_some_and(|service| check.names(service))
    }

    /// The check as stores see it: a rule that names the limiter's own service is as one that names none.
    fn at_home<'c, 'r>(&self, check: &'c Check<'r>) -> Cow<'c, Check<'r>> {
        if self.is_home_of(check) { Cow::Owned(check.at_home()) } else { Cow::Borrowed(check) }
    }

    /// The checks that are not switched off.
    fn switched_on<'c, 'r>(&self, checks: &'c [Check<'r>]) -> Cow<'c, [Check<'r>]> {
        let is_enforced = |check: &Check<'_>| check.rule().mode() == Mode::Enforce;
        let watches = self.is_shadow();
        if self.is_off() {
            return Cow::Borrowed(&[]);
        }
        if !watches && checks.iter().all(is_enforced) {
            return checks.into();
        }
        let on = |check: &&Check<'_>| check.rule().mode() != Mode::Off;
        let checks = checks.iter().filter(on);
        let checks = checks.map(|check| if watches { check.as_shadow() } else { check.clone() });
        // A shadow check keeps no call from running, also when it is invalid.
        checks.filter(|check| !check.is_shadow() || is_valid(check)).collect()
    }

    async fn decide_async(&self, checks: &[Check<'_>]) -> Result<Decision, RateLimitError> {
        match self.try_decide(checks) {
            Some(decision) => decision,
            None => self.decide_by_asking(checks).await,
        }
    }

    /// The decision that takes waiting, of checks in which [`try_decide`](Self::try_decide) found no
    /// mistake. Which checks are active is worked out a second time: a decision that takes no waiting must not
    /// pay for keeping them.
    async fn decide_by_asking(&self, checks: &[Check<'_>]) -> Result<Decision, RateLimitError> {
        let active = self.active_checks(checks);
        let asking = telemetry::Asking::new();
        let answers = self.in_time(self.shared.store.decide(&active)).await;
        let took = asking.ended(&answers);
        self.shared.latency.note(took, self.shared.deadline, &answers);
        self.conclude(&active, answers.map(|answers| (answers, Charges::new()))).map(|made| made.0)
    }

    /// The decision, if it takes no waiting.
    fn try_decide(&self, checks: &[Check<'_>]) -> Option<Result<Decision, RateLimitError>> {
        let active = match self.valid_checks(checks) {
            Ok(active) if active.is_empty() => return Some(Ok(Decision::unasked())),
            Ok(active) => active,
            Err(mistake) => return Some(Err(self.invalid(checks, mistake))),
        };
        let answers = self.shared.store.decide_now(&active)?;
        let answers = answers.map(|answers| (answers, Charges::new()));
        Some(self.conclude(&active, answers).map(|made| made.0))
    }

    /// The checks that count, if there is no mistake in them.
    #[inline]
    fn valid_checks<'c, 'r>(
        &self,
        checks: &'c [Check<'r>],
    ) -> Result<Cow<'c, [Check<'r>]>, InvalidCall> {
        let active = self.active_checks(checks);
        if let Err(mistake) = validate(&active) {
            if active.iter().all(Check::is_shadow) {
                return Ok(Cow::Borrowed(&[]));
            }
            return Err(mistake);
        }
        Ok(active)
    }

    /// Counts a call that is invalid, and reports it if its caller is to blame: who has set up the
    /// limits has lines of their own.
    #[cold]
    pub(crate) fn invalid(&self, checks: &[Check<'_>], mistake: InvalidCall) -> RateLimitError {
        if mistake.is_client_error() {
            let is_meant = |check: &&Check<'_>| mistake.rule() == Some(check.rule().name());
            if let Some(check) = checks.iter().find(is_meant) {
                self.shared.events.invalid(check);
            }
        }
        mistaken(mistake)
    }

    /// Waits for a future that is no call, on the calling thread.
    fn blocking<T>(
        &self,
        check: &Check<'_>,
        future: impl Future<Output = Result<T, RateLimitError>>,
    ) -> Result<T, RateLimitError> {
        if !self.shared.blocking {
            let error = ConfigError::BlockingConnection;
            return Err(misconfigured(std::slice::from_ref(check), error).into());
        }
        driver::is_elsewhere().map_err(|cause| unavailable(check.rule(), cause))?;
        driver::block_on(future)
    }

    /// As [`in_time`](Self::in_time), and needs no timer for what takes no waiting.
    async fn at_once_or_in_time<T>(
        &self,
        mut future: BoxFuture<'_, Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
            Poll::Ready(output) => output,
            Poll::Pending => self.in_time(future).await,
        }
    }

    async fn in_time<T>(
        &self,
        future: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let deadline = self.shared.deadline;
        driver::with_deadline(deadline, future)
            .await?
            .unwrap_or(Err(StoreError::Deadline { deadline }))
    }

    /// The decision, with what was charged as far as the store was asked for that.
    fn conclude(
        &self,
        checks: &[Check<'_>],
        answers: Result<(Answers, Charges), StoreError>,
    ) -> Result<(Decision, Charges), RateLimitError> {
        match answers {
            Ok((answers, charges)) => {
                self.record_answers(checks, &answers);
                Ok((Decision::new(checks, &answers), charges))
            }
            Err(StoreError::Config(error)) => Err(mistaken(misconfigured(checks, error))),
            Err(cause) => {
                self.shared.outages.failed(&cause);
                self.decide_without_store(checks, cause)
            }
        }
    }

    /// The store has answered.
    #[inline]
    fn record_answers(&self, checks: &[Check<'_>], answers: &Answers) {
        self.shared.outages.answered();
        self.shared.fallback.tidy();
        self.record(checks, answers, None);
    }

    /// Counts what was decided, keeps it for the header fields of the response, and reports it if not all
    /// rules admit.
    #[inline]
    fn record(&self, checks: &[Check<'_>], answers: &Answers, degraded: Option<Degraded>) {
        let said = checks.iter().zip(answers);
        let said =
            said.map(|(check, answer)| (check.rule().series(), answer.admitted, check.is_shadow()));
        telemetry::decided(said, || decision::admits(checks, answers));
        RequestContext::report(checks, answers);
        if !answers.iter().all(|answer| answer.admitted) {
            self.shared.events.limited(checks, answers, degraded);
        }
    }

    /// Decides without the store.
    #[cold]
    fn decide_without_store(
        &self,
        checks: &[Check<'_>],
        cause: StoreError,
    ) -> Result<(Decision, Charges), RateLimitError> {
        match self.policy_on_failure(checks) {
            OnFailure::Closed(rule) => {
                telemetry::degraded(series(checks), None, &cause);
                RequestContext::forget_reports();
                RequestContext::note_rejection();
                self.shared.events.undecided(checks, None);
                Err(unavailable(rule, cause))
            }
            OnFailure::Open => {
                telemetry::degraded(series(checks), Some(Degraded::Open), &cause);
                self.shared.events.undecided(checks, Some(Degraded::Open));
                let decision = Decision::unasked().without_store(Degraded::Open, cause);
                Ok((decision, Charges::new()))
            }
            OnFailure::Local => {
                let decided = self.shared.fallback.decide(checks);
                let (answers, charges) =
                    decided.map_err(|error| mistaken(misconfigured(checks, error)))?;
                telemetry::degraded(series(checks), Some(Degraded::Local), &cause);
                self.record(checks, &answers, Some(Degraded::Local));
                let decision = Decision::new(checks, &answers);
                Ok((decision.without_store(Degraded::Local, cause), charges))
            }
        }
    }

    /// What is done without the store: the strictest of the applied rules' answers counts.
    fn policy_on_failure<'c>(&self, checks: &[Check<'c>]) -> OnFailure<'c> {
        let on_error = |check: &Check<'_>| check.rule().on_error().unwrap_or(self.shared.on_error);
        // A shadow rule never keeps a call from running.
        let closed = |check: &&Check<'_>| on_error(check) == OnError::Closed && !check.is_shadow();
        if let Some(check) = checks.iter().find(closed) {
            return OnFailure::Closed(check.rule());
        }
        if checks.iter().all(|check| on_error(check) == OnError::Open) {
            return OnFailure::Open;
        }
        OnFailure::Local
    }
}

/// Under which names the rules of checks are counted.
fn series<'c>(checks: &'c [Check<'_>]) -> impl Iterator<Item = &'c Arc<Series>> {
    checks.iter().map(|check| check.rule().series())
}

/// Who decides when the store does not answer.
enum OnFailure<'a> {
    /// Nobody, and the call is not admitted for this rule.
    Closed(&'a Rule),
    /// Nobody, and the call is admitted.
    Open,
    /// The embedded store, with this instance's share.
    Local,
}

/// Counts a call that is invalid, and turns it away.
#[cold]
pub(crate) fn mistaken(mistake: InvalidCall) -> RateLimitError {
    telemetry::mistaken(&mistake);
    RequestContext::note_rejection();
    mistake.into()
}

fn into_result(decision: Decision) -> Result<Decision, RateLimitError> {
    if decision.is_admitted() {
        return Ok(decision);
    }
    RequestContext::note_rejection();
    Err(Limited::new(decision).into())
}

/// The checks cannot be decided: because of the numbers of some, or of something that has to do with
/// none in particular.
#[cold]
fn misconfigured(checks: &[Check<'_>], error: ConfigError) -> InvalidCall {
    let mut has_subject = false;
    for check in checks {
        if let Err(error) = check.plan(Resolution::Micros) {
            check.rule().log_mistake(&InvalidCall::Config(error));
            has_subject = true;
        }
    }
    let mistake = InvalidCall::Config(error);
    if let Some(first) = checks.first().filter(|_| !has_subject) {
        first.rule().log_mistake(&mistake);
    }
    mistake
}

fn unavailable(rule: &Rule, cause: StoreError) -> RateLimitError {
    Unavailable { rule: rule.name().to_owned(), cause }.into()
}

/// Finds the mistakes that no store needs to be asked about.
fn validate(checks: &[Check<'_>]) -> Result<(), InvalidCall> {
    if checks.len() > MAX_CHECKS {
        let error = ConfigError::TooManyChecks { checks: checks.len(), max: MAX_CHECKS };
        return Err(logged(checks.first(), error.into()));
    }
    for check in checks {
        if let Err(mistake) = validate_one(check) {
            return Err(logged(Some(check), mistake));
        }
    }
    Ok(())
}

/// Logs a mistake, if those who run the service can mend it.
#[cold]
fn logged(check: Option<&Check<'_>>, mistake: InvalidCall) -> InvalidCall {
    if let Some(check) = check.filter(|_| !mistake.is_client_error()) {
        check.rule().log_mistake(&mistake);
    }
    mistake
}

/// Whether a store can decide it.
fn is_valid(check: &Check<'_>) -> bool {
    validate_one(check).is_ok() && check.plan(Resolution::Micros).is_ok()
}

/// Finds the mistakes in the key of a check.
fn validate_key(check: &Check<'_>) -> Result<(), InvalidCall> {
    let (rule, key) = (check.rule(), check.key());
    let name = || rule.name().to_owned();
    let group = check.group();
    if let Some(missing) = key.missing().or_else(|| group.and_then(LimitKey::missing)) {
        return Err(match missing {
            Missing::Context => InvalidCall::NoContext { rule: name() },
            Missing::ClientIp => InvalidCall::NoClientIp { rule: name() },
            Missing::Route => InvalidCall::NoRoute { rule: name() },
        });
    }
    // Before the empty value that stands where the hash is missing.
    if key.needs_secret() || group.is_some_and(LimitKey::needs_secret) {
        return Err(InvalidCall::NoSecret { rule: name() });
    }
    if key.has_empty_value() || group.is_some_and(LimitKey::has_empty_value) {
        return Err(InvalidCall::EmptyKey { rule: name() });
    }
    Ok(())
}

/// Finds the mistakes in one check.
fn validate_one(check: &Check<'_>) -> Result<(), InvalidCall> {
    validate_key(check)?;
    let rule = check.rule();
    let name = || rule.name().to_owned();
    let numbers = check.algorithm();
    if !numbers.is_like(&rule.written()) {
        let (rule, given) = (rule.name().into(), numbers.name());
        return Err(ConfigError::OtherAlgorithm { rule, given }.into());
    }
    // A limit of 0 is a way to switch callers off, and refuses.
    let (cost, limit) = (check.cost(), numbers.limit());
    if cost > limit && limit > 0 {
        return Err(InvalidCall::CostExceedsCapacity { rule: name(), cost, limit });
    }
    Ok(())
}
