//! Who learns of the calls that were not simply admitted: the log, and a hook.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use once_cell::sync::Lazy;

use crate::degraded::Degraded;
use crate::event::{LimitEvent, LimitEventKind};
use crate::panics::survives;
use crate::rule::Check;
use crate::store::Answers;

/// A line about hooks that panic, at most once in this time.
const SPACING_MS: u64 = 10_000;

thread_local! {
    /// Whether the hook is running: it may call a limited function, and is not called for that.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Runs on the caller's thread.
type Hook = Arc<dyn Fn(&LimitEvent<'_>) + Send + Sync>;

/// What a limiter does with events.
#[derive(Clone, Default)]
pub(super) struct Events {
    /// Whether lines have the key.
    pub(super) log_keys: bool,
    pub(super) hook: Option<Hook>,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("log_keys", &self.log_keys)
            .field("hook", &self.hook.is_some())
            .finish()
    }
}

impl Events {
    /// Some rules would not let the call pass.
    #[cold]
    pub(super) fn limited(
        &self,
        checks: &[Check<'_>],
        answers: &Answers,
        degraded: Option<Degraded>,
    ) {
        for (check, answer) in checks.iter().zip(answers).filter(|(_, answer)| !answer.admitted) {
            let kind =
                if check.is_shadow() { LimitEventKind::Shadowed } else { LimitEventKind::Limited };
            let retry_after = answer.retry_after_ms.map(Duration::from_millis);
            self.report(
                &LimitEvent { limit: answer.limit, retry_after, degraded, ..event(kind, check) },
                check,
            );
        }
    }

    /// Nobody decided.
    #[cold]
    pub(super) fn undecided(&self, checks: &[Check<'_>], how: Option<Degraded>) {
        let kind = match how {
            Some(_) => LimitEventKind::Open,
            None => LimitEventKind::Unavailable,
        };
        for check in checks {
            self.report(&LimitEvent { degraded: how, ..event(kind, check) }, check);
        }
    }

    /// The caller has made a mistake.
    #[cold]
    pub(super) fn invalid(&self, check: &Check<'_>) {
        self.report(&event(LimitEventKind::Invalid, check), check);
    }

    fn report(&self, event: &LimitEvent<'_>, check: &Check<'_>) {
        check.rule().series().note(event, self.log_keys);
        if let Some(hook) = &self.hook {
            run(hook, event);
        }
    }
}

fn event<'a>(kind: LimitEventKind, check: &'a Check<'_>) -> LimitEvent<'a> {
    LimitEvent {
        kind,
        rule: check.rule().name(),
        key: check.key(),
        limit: check.algorithm().limit(),
        cost: check.cost(),
        retry_after: None,
        degraded: None,
    }
}

/// Runs the hook. Whatever it does, the decision is made, and no lock is held.
fn run(hook: &Hook, event: &LimitEvent<'_>) {
    if IS_RUNNING.replace(true) {
        return;
    }
    let has_ended = survives(|| hook(event));
    IS_RUNNING.set(false);
    if !has_ended {
        log_panic();
    }
}

#[cold]
fn log_panic() {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX);
    let next = NEXT.load(Ordering::Relaxed);
    let is_ours = || {
        NEXT.compare_exchange(next, now + SPACING_MS, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    if now >= next && is_ours() {
        tracing::error!("a hook for rate limit events panicked: decisions are as they were");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::key::LimitKey;

    /// Panics when it is dropped, unless that would abort.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "the payload panics as well");
        }
    }

    #[test]
    fn a_hook_whose_panic_panics_again_does_not_reach_the_caller() {
        let calls = Arc::new(AtomicUsize::new(0));
        let hook: Hook = {
            let calls = calls.clone();
            Arc::new(move |_| {
                calls.fetch_add(1, Ordering::Relaxed);
                std::panic::panic_any(Bomb)
            })
        };
        let key = LimitKey::from("key");
        let event = LimitEvent {
            kind: LimitEventKind::Limited,
            rule: "rule",
            key: &key,
            limit: 1,
            cost: 1,
            retry_after: None,
            degraded: None,
        };
        for _ in 0..2 {
            run(&hook, &event);
        }
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }
}
