//! With the feature.

#[cfg(feature = "redis")]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use metrics::{counter, gauge, histogram};

use crate::decision::Degraded;
use crate::error::{Mistake, StoreError};
use crate::rule::{Check, Rule};
use crate::store::Answers;

/// What each rule said about a call.
pub(crate) fn decided(checks: &[Check<'_>], answers: &Answers) {
    for (check, answer) in checks.iter().zip(answers) {
        let word = match (answer.allowed, check.is_shadow()) {
            (true, _) => "admitted",
            (false, false) => "refused",
            (false, true) => "shadowed",
        };
        let rule = check.rule().name().to_owned();
        counter!("ratelimit_checks_total", "rule" => rule, "outcome" => word).increment(1);
    }
}

/// A call was decided without the store; `None`: it was not admitted for that.
pub(crate) fn degraded(checks: &[Check<'_>], how: Option<Degraded>, cause: &StoreError) {
    let policy = match how {
        Some(Degraded::Local) => "local",
        Some(Degraded::Open) => "open",
        None => "closed",
    };
    let cause = cause.kind();
    for check in checks {
        let rule = check.rule().name().to_owned();
        counter!("ratelimit_degraded_total", "rule" => rule, "policy" => policy, "cause" => cause)
            .increment(1);
    }
}

/// A call was a mistake.
pub(crate) fn mistaken(mistake: &Mistake) {
    counter!("ratelimit_mistakes_total", "kind" => mistake.kind()).increment(1);
}

/// A new key of a rule found the embedded store full.
pub(crate) fn overflowed(rule: &Rule) {
    let rule = rule.name().to_owned();
    counter!("ratelimit_embedded_overflow_total", "rule" => rule).increment(1);
}

/// An embedded store holds a key more.
pub(crate) fn entry_added() {
    gauge!("ratelimit_embedded_entries").increment(1);
}

/// An embedded store holds so many keys less.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(crate) fn entries_gone(entries: usize) {
    if entries > 0 {
        gauge!("ratelimit_embedded_entries").decrement(entries as f64);
    }
}

/// A question to the store: under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Asking(Instant);

impl Asking {
    pub(crate) fn new() -> Self {
        gauge!("ratelimit_in_flight").increment(1);
        Self(Instant::now())
    }

    /// The store has answered, or has failed.
    pub(crate) fn ended<T>(&self, answer: &Result<T, StoreError>) {
        histogram!("ratelimit_store_seconds").record(self.0.elapsed());
        if let Err(error) = answer {
            counter!("ratelimit_store_errors_total", "kind" => error.kind()).increment(1);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        gauge!("ratelimit_in_flight").decrement(1);
    }
}

/// For what the limiter's own thread tells: a recorder that panics must not end the task that keeps
/// a connection. Where a caller's thread tells, the panic is the caller's.
#[cfg(feature = "redis")]
fn unharmed(tell: impl FnOnce()) {
    // The recorder itself is all that may be left half done.
    let _ = catch_unwind(AssertUnwindSafe(tell));
}

/// A server is tried.
#[cfg(feature = "redis")]
pub(crate) fn connecting() {
    unharmed(|| counter!("ratelimit_connection_attempts_total").increment(1));
}

/// What is told of a server: a connection, an open breaker, or at first neither. Gone when this is
/// dropped.
#[cfg(feature = "redis")]
#[derive(Debug)]
pub(crate) struct Server(Option<&'static str>);

#[cfg(feature = "redis")]
impl Server {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    /// There is a connection, and calls go through.
    pub(crate) fn up(&mut self) {
        self.tell(Some("ratelimit_connections"));
    }

    /// Calls are not sent: the breaker is open.
    pub(crate) fn down(&mut self) {
        self.tell(Some("ratelimit_breakers_open"));
    }

    fn tell(&mut self, now: Option<&'static str>) {
        let before = std::mem::replace(&mut self.0, now);
        if before == now {
            return;
        }
        if let Some(before) = before {
            unharmed(|| gauge!(before).decrement(1));
        }
        if let Some(now) = now {
            unharmed(|| gauge!(now).increment(1));
        }
    }
}

#[cfg(feature = "redis")]
impl Drop for Server {
    fn drop(&mut self) {
        self.tell(None);
    }
}
