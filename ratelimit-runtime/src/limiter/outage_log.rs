//! Whether the store answers, logged once per change and not once per call. Nearly half of it is tests.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Moment;
use crate::driver;
use crate::error::StoreError;

/// A store that has not failed for this long is well again. One that fails now and then is not.
const WELL: u64 = 1_000;

/// The least time between two lines about beginnings: a store that comes and goes must not fill the
/// logs.
const SPACING: u64 = 10_000;

/// When there were no calls for this long, the line about the end does not wait for one any more.
const QUIET: u64 = 300_000;

/// How often the limiter's own thread looks, while there is something to log.
const TICK: Duration = Duration::from_secs(1);

/// The outages of one store.
///
/// Calls log what is due, and the limiter's own thread does when there are no calls. A call that is
/// answered reads one flag here, unless the store has failed a moment ago; one that fails counts, and
/// takes the lock only where a line may be due. Times are in milliseconds since `made`.
#[derive(Debug)]
pub(super) struct OutageLog {
    made: Moment,
    /// Whether there is an outage, or one that has no line yet.
    pending: AtomicBool,
    /// Whether there is an outage, and no answer since its last failure.
    steady: AtomicBool,
    /// When a call failed last.
    failed: AtomicU64,
    /// The calls of the present outage that were decided without the store.
    affected: AtomicU64,
    /// From when on an answered call has something to do here.
    answered_look: AtomicU64,
    /// From when on a failed call has, if its cause is not the logged one.
    failed_look: AtomicU64,
    /// The kind of the cause in the last line; 0: the present outage has no line.
    logged_kind: AtomicU8,
    /// Whether a line of the present outage has said that the login is refused or a permission is missing.
    is_permission_logged: AtomicBool,
    /// Whether the limiter's own thread looks.
    is_watched: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    outage: Option<Outage>,
    /// When the next line about a beginning may be.
    next_line: u64,
    missed: Missed,
}

/// The present outage.
#[derive(Debug)]
struct Outage {
    began: u64,
    /// The first answer since the last failure.
    answered: Option<u64>,
    /// The kind of the cause in its last line; 0: it has none.
    logged: u8,
    /// Whether one of its lines has said that a login is refused or a permission is missing.
    is_permission_logged: bool,
    cause: StoreError,
}

/// What ended without a line.
#[derive(Clone, Copy, Debug, Default)]
struct Missed {
    outages: u64,
    calls: u64,
}

/// A line that is due.
#[derive(Debug)]
enum Line {
    Begins {
        cause: StoreError,
        missed: Missed,
    },
    Changes {
        cause: StoreError,
    },
    Ends {
        affected: u64,
        lasted: Duration,
    },
    /// No call has come for long.
    Closes {
        affected: u64,
        lasted: Duration,
    },
    Missed(Missed),
}

impl OutageLog {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            made: Moment::now(),
            pending: AtomicBool::new(false),
            steady: AtomicBool::new(false),
            failed: AtomicU64::new(0),
            affected: AtomicU64::new(0),
            answered_look: AtomicU64::new(0),
            failed_look: AtomicU64::new(0),
            logged_kind: AtomicU8::new(0),
            is_permission_logged: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// The store has answered a call.
    #[inline]
    pub(super) fn answered(&self) {
        // A plain read first: nearly always the store was there before, and all threads ask.
        if self.pending.load(Ordering::Relaxed) {
            self.answered_at(self.now());
        }
    }

    /// A call was decided without the store.
    pub(super) fn failed(self: &Arc<Self>, cause: &StoreError) {
        self.failed_at(self.now(), cause, || {
            // Where nobody keeps a log, nobody has to look after it.
            if tracing::enabled!(tracing::Level::WARN)
                && !self.is_watched.swap(true, Ordering::Relaxed)
            {
                Self::watch(Arc::downgrade(self));
            }
        });
    }

    /// Has the limiter's own thread look until there is nothing to log any more.
    fn watch(log: Weak<Self>) {
        driver::later(TICK, move || {
            if let Some(this) = log.upgrade() {
                this.tick_at(this.now(), || Self::watch(log));
            }
        });
    }

    fn now(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn answered_at(&self, now: u64) {
        if now < self.answered_look.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.state.lock();
        if let Some(outage) = &mut state.outage {
            outage.answered.get_or_insert(now);
        }
        let line = self.due(&mut state, now);
        drop(state);
        write(line);
    }

    /// Has somebody watch before it writes: a subscriber that panics keeps nobody from that.
    fn failed_at(&self, now: u64, cause: &StoreError, watch: impl FnOnce()) {
        self.failed.fetch_max(now, Ordering::Relaxed);
        self.affected.fetch_add(1, Ordering::Relaxed);
        // Nearly always the outage is known, and nothing is due.
        let (kind, logged) = (kind(cause), self.logged_kind.load(Ordering::Relaxed));
        let is_news =
            kind == PERMISSION && logged != 0 && !self.is_permission_logged.load(Ordering::Relaxed);
        let is_early = now < self.failed_look.load(Ordering::Relaxed);
        if self.steady.load(Ordering::Relaxed) && (logged == kind || is_early && !is_news) {
            return;
        }
        let mut state = self.state.lock();
        let outage = state.outage.get_or_insert_with(|| Outage {
            began: now,
            answered: None,
            logged: 0,
            is_permission_logged: false,
            cause: cause.clone(),
        });
        outage.answered = None;
        outage.cause = cause.clone();
        let line = self.due(&mut state, now);
        drop(state);
        watch();
        write(line);
    }

    /// What is due when nobody calls. Has somebody look again, if there is something to log.
    fn tick_at(&self, now: u64, watch: impl FnOnce()) {
        let mut state = self.state.lock();
        let line = self.due(&mut state, now);
        let again = state.outage.is_some() || state.missed.outages > 0;
        // Under the lock: a call that fails from now on sees it.
        self.is_watched.store(again, Ordering::Relaxed);
        drop(state);
        if again {
            watch();
        }
        write(line);
    }

    /// The line that is due, if one is. Of two at one time the second comes with the next look.
    fn due(&self, state: &mut State, now: u64) -> Option<Line> {
        let line = self.of_outage(state, now).or_else(|| state.of_missed(now));
        let outage = state.outage.as_ref();
        let well = self.failed.load(Ordering::Relaxed) + WELL;
        let answered_look = match outage {
            Some(Outage { answered: None, .. }) => 0,
            Some(_) => well,
            None => state.next_line,
        };
        self.answered_look.store(answered_look, Ordering::Relaxed);
        self.failed_look.store(state.next_line, Ordering::Relaxed);
        self.logged_kind.store(outage.map_or(0, |outage| outage.logged), Ordering::Relaxed);
        let is_permission_logged = outage.is_some_and(|outage| outage.is_permission_logged);
        self.is_permission_logged.store(is_permission_logged, Ordering::Relaxed);
        let steady = outage.is_some_and(|outage| outage.answered.is_none());
        self.steady.store(steady, Ordering::Relaxed);
        self.pending.store(outage.is_some() || state.missed.outages > 0, Ordering::Relaxed);
        line
    }

    /// What is due about the present outage.
    fn of_outage(&self, state: &mut State, now: u64) -> Option<Line> {
        let failed = self.failed.load(Ordering::Relaxed);
        let silent = now.saturating_sub(failed);
        let may_begin = now >= state.next_line;
        let outage = state.outage.as_mut()?;
        let is_over = outage.answered.is_some() && silent >= WELL;
        if !is_over && silent < QUIET {
            let kind = kind(&outage.cause);
            // A password that was changed looks like a connection that is lost, and the reason comes a
            // moment later: it is not kept back, once in an outage that has a line.
            let is_news = kind == PERMISSION && outage.logged != 0 && !outage.is_permission_logged;
            if outage.logged == kind || !(may_begin || is_news) {
                return None;
            }
            let cause = outage.cause.clone();
            outage.is_permission_logged |= kind == PERMISSION;
            state.next_line = now + SPACING;
            return Some(if std::mem::replace(&mut outage.logged, kind) == 0 {
                Line::Begins { cause, missed: std::mem::take(&mut state.missed) }
            } else {
                Line::Changes { cause }
            });
        }
        let until = outage.answered.unwrap_or(failed);
        let lasted = Duration::from_millis(until.saturating_sub(outage.began));
        let has_line = outage.logged != 0;
        state.outage = None;
        let affected = self.affected.swap(0, Ordering::Relaxed);
        if !has_line {
            state.missed.outages += 1;
            state.missed.calls += affected;
            return None;
        }
        Some(if is_over {
            Line::Ends { affected, lasted }
        } else {
            Line::Closes { affected, lasted }
        })
    }
}

impl State {
    /// What is due about outages without a line.
    fn of_missed(&mut self, now: u64) -> Option<Line> {
        if self.outage.is_some() || self.missed.outages == 0 || now < self.next_line {
            return None;
        }
        self.next_line = now + SPACING;
        Some(Line::Missed(std::mem::take(&mut self.missed)))
    }
}

/// Writes a line. No lock is held here: what takes the log may be limited too.
fn write(line: Option<Line>) {
    match line {
        None => {}
        Some(Line::Begins { cause, missed: Missed { outages: 0, .. } }) => tracing::warn!(
            %cause, "rate limit store unavailable: applying `on_error`"
        ),
        Some(Line::Begins { cause, missed: Missed { outages, calls } }) => tracing::warn!(
            %cause,
            unlogged_outages = outages,
            unlogged_affected = calls,
            "rate limit store unavailable: applying `on_error`"
        ),
        Some(Line::Changes { cause }) => tracing::warn!(
            %cause, "the rate limit store is still unavailable, for another reason"
        ),
        Some(Line::Ends { affected, lasted }) => {
            tracing::warn!(affected, ?lasted, "the rate limit store answers again");
        }
        Some(Line::Closes { affected, lasted }) => tracing::warn!(
            affected,
            ?lasted,
            "no calls since the rate limit store failed: whether it answers is not known"
        ),
        Some(Line::Missed(Missed { outages, calls })) => tracing::warn!(
            unlogged_outages = outages,
            unlogged_affected = calls,
            "the rate limit store was unavailable for short times, and answers"
        ),
    }
}

/// The kind of a cause that somebody has to mend.
const PERMISSION: u8 = 3;

/// A number for the kind of a cause; never 0.
const fn kind(cause: &StoreError) -> u8 {
    match cause {
        StoreError::Deadline { .. } => 1,
        StoreError::Connection { .. } => 2,
        StoreError::Permission { .. } => PERMISSION,
        StoreError::Server { .. } => 4,
        StoreError::Reply => 5,
        StoreError::Config(_) => 6,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::telemetry::lines::during;

    /// Lets calls come at their times, `step` apart, with the limiter's own thread looking every
    /// second: those in `fails` fail. The lines with their times, and how many calls failed.
    fn calls(
        log: &OutageLog,
        times: std::ops::Range<u64>,
        step: u64,
        fails: impl Fn(u64) -> bool,
    ) -> (Vec<(u64, String)>, u64) {
        let (mut lines, mut failed) = (Vec::new(), 0);
        for now in times {
            let new = during(|| {
                if now.is_multiple_of(step) && fails(now) {
                    failed += 1;
                    fail(log, now, &StoreError::Reply);
                } else if now.is_multiple_of(step) {
                    log.answered_at(now);
                }
                if now % 1_000 == 999 {
                    tick(log, now);
                }
            });
            lines.extend(new.into_iter().map(|line| (now, line)));
        }
        (lines, failed)
    }

    fn fail(log: &OutageLog, now: u64, cause: &StoreError) {
        log.failed_at(now, cause, || {});
    }

    /// Whether somebody looks again.
    fn tick(log: &OutageLog, now: u64) -> bool {
        let mut again = false;
        log.tick_at(now, || again = true);
        again
    }

    /// The sum of all calls that lines say were affected.
    fn affected(lines: &[(u64, String)]) -> u64 {
        let numbers = lines.iter().flat_map(|(_, line)| line.split(' ')).filter_map(|field| {
            field.strip_prefix("affected=").or(field.strip_prefix("unlogged_affected="))
        });
        numbers.map(|number| number.parse::<u64>().unwrap()).sum()
    }

    fn lasted(line: &str) -> &str {
        line.split("lasted=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap()
    }

    #[test]
    fn b106_an_outage_is_one_line_and_its_end_another() {
        let log = OutageLog::new();
        let (lines, failed) = calls(&log, 0..80_000, 1, |now| (1_000..61_000).contains(&now));
        let [(down_at, down), (_, up)] = &*lines else { panic!("{lines:?}") };
        assert_eq!(*down_at, 1_000);
        assert!(down.contains("unexpected reply from the store"), "{down}");
        assert!(down.starts_with("WARN ") && up.starts_with("WARN "), "{lines:?}");
        assert_eq!((lasted(up), affected(&lines)), ("60s", failed));
    }

    #[test]
    fn b160_the_second_outage_is_logged_however_soon_it_comes() {
        let log = OutageLog::new();
        let fails = |now: u64| (1_000..1_500).contains(&now) || (6_000..46_000).contains(&now);
        let (lines, failed) = calls(&log, 0..60_000, 5, fails);
        let [_, _, (down_at, down), (_, up)] = &*lines else { panic!("{lines:?}") };
        assert!(*down_at <= 16_000 && down.contains("unavailable"), "{lines:?}");
        assert_eq!((lasted(up), affected(&lines)), ("40s", failed));
    }

    #[test]
    fn b160_a_store_that_comes_and_goes_does_not_fill_the_logs() {
        let log = OutageLog::new();
        let (lines, failed) = calls(&log, 0..80_000, 5, |now| now < 60_000 && now % 2_000 < 500);
        assert!(lines.len() <= 20, "{lines:?}");
        assert!(lines.iter().any(|(_, line)| line.contains("unlogged_outages=4")), "{lines:?}");
        assert_eq!(affected(&lines), failed);
    }

    #[test]
    fn b160_an_outage_lasts_from_the_first_failed_call_to_the_first_answered_one() {
        let log = OutageLog::new();
        let (lines, failed) = calls(&log, 0..50_000, 7_500, |now| now < 20_000);
        assert_eq!((lines.len(), lasted(&lines[1].1), affected(&lines)), (2, "22.5s", failed));
    }

    #[test]
    fn b160_a_store_that_is_late_now_and_then_is_logged() {
        let log = OutageLog::new();
        let late = |now: u64| (3_500..18_500).contains(&now) && now.is_multiple_of(10);
        let (lines, failed) = calls(&log, 0..40_000, 5, |now| now < 500 || late(now));
        let (at, line) = &lines[2];
        assert!(*at <= 13_500 && line.contains("unavailable"), "{lines:?}");
        assert_eq!((lines.len(), affected(&lines)), (4, failed));
    }

    #[test]
    fn a_store_that_fails_every_half_second_is_one_outage() {
        let log = OutageLog::new();
        let (lines, _) = calls(&log, 0..60_000, 1, |now| now % 500 == 0);
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    /// Short ones end before a line is due. Nothing but the limiter's own thread is there to log them
    /// when calls stop, and calls do it where there is no such thread.
    #[test]
    fn outages_that_ended_without_a_line_get_one_when_it_is_due() {
        for has_thread in [true, false] {
            let log = OutageLog::new();
            let lines = during(|| {
                for began in [0, 2_000, 4_000] {
                    fail(&log, began, &StoreError::Reply);
                    log.answered_at(began + 100);
                    log.answered_at(began + 1_200);
                }
                if has_thread {
                    assert!(!tick(&log, 10_001));
                } else {
                    log.answered_at(10_001);
                }
            });
            assert_eq!(lines.len(), 3, "{lines:?}");
            let [outages, calls] = ["unlogged_outages=2", "unlogged_affected=2"];
            assert!(lines[2].contains(outages) && lines[2].contains(calls), "{lines:?}");
            assert!(!tick(&log, 10_002), "nothing is left to log");
        }
    }

    #[test]
    fn an_end_needs_no_further_call() {
        let log = OutageLog::new();
        let lines = during(|| {
            fail(&log, 0, &StoreError::Reply);
            log.answered_at(100);
            assert!(tick(&log, 900));
            assert!(!tick(&log, 1_900));
        });
        assert_eq!((lines.len(), lasted(&lines[1])), (2, "100ms"), "{lines:?}");
    }

    #[test]
    fn an_outage_after_which_no_call_comes_is_closed() {
        let log = OutageLog::new();
        let lines = during(|| {
            fail(&log, 0, &StoreError::Reply);
            fail(&log, 2_000, &StoreError::Reply);
            assert!(tick(&log, 301_000));
            assert!(!tick(&log, 302_000));
        });
        assert_eq!((lines.len(), lasted(&lines[1])), (2, "2s"), "{lines:?}");
        assert!(lines[1].contains("affected=2") && lines[1].contains("no calls"), "{lines:?}");
    }

    #[test]
    fn another_cause_is_logged_when_a_line_is_due() {
        let late = StoreError::Deadline { deadline: Duration::from_millis(50) };
        let log = OutageLog::new();
        let lines = during(|| {
            for now in 0..60_000 {
                // As it is when a breaker tries now and then.
                let cause = if now % 500 == 0 { &late } else { &StoreError::Reply };
                fail(&log, now, if now < 3_000 { &late } else { cause });
            }
        });
        assert!(lines[0].contains("within 50ms"), "{lines:?}");
        assert!(lines[1].contains("unexpected reply") && lines[1].contains("another"), "{lines:?}");
        assert!(lines.len() <= 7, "one in ten seconds: {lines:?}");
    }

    /// A password is changed: connections are cut, and a moment later the login is refused.
    #[test]
    fn a_login_that_is_refused_is_logged_at_once_and_once_in_an_outage() {
        let lost = StoreError::Connection { reason: "lost".to_owned() };
        let refused = StoreError::Permission { reason: "the login is refused".to_owned() };
        let log = OutageLog::new();
        let lines = during(|| {
            for now in 0..9_000 {
                // And cut again in between.
                fail(&log, now, if now < 50 || now % 1_000 < 10 { &lost } else { &refused });
            }
            log.answered_at(9_000);
            tick(&log, 10_100);
        });
        let [begins, changes, ends] = &*lines else { panic!("{lines:?}") };
        assert!(begins.contains("lost") && ends.contains("affected=9000"), "{lines:?}");
        assert!(changes.contains("the login is refused"), "{changes}");

        // One that comes and goes every two seconds.
        let log = OutageLog::new();
        let lines = during(|| {
            for now in 0..60_000 {
                match now % 2_000 {
                    0..100 => fail(&log, now, &lost),
                    100..500 => fail(&log, now, &refused),
                    _ => log.answered_at(now),
                }
            }
        });
        assert!(lines.len() <= 20, "{lines:?}");
    }

    /// Refuses to write.
    struct Panics;

    impl tracing::Subscriber for Panics {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, _: &tracing::Event<'_>) {
            panic!("the disk is full");
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[test]
    fn a_subscriber_that_panics_keeps_nobody_from_watching() {
        let log = OutageLog::new();
        let written = tracing::subscriber::with_default(Panics, || {
            crate::panics::survives(|| log.failed(&StoreError::Reply))
        });
        assert!(!written);
        // The store is there again, and no call comes: who watches finds it out.
        if let Some(outage) = &mut log.state.lock().outage {
            outage.answered = Some(0);
        }
        log.failed.store(0, Ordering::Relaxed);
        let begun = std::time::Instant::now();
        while log.state.lock().outage.is_some() {
            assert!(begun.elapsed() < Duration::from_secs(30), "nobody watches");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_subscriber_that_panics_does_not_end_the_watch() {
        let (log, mut again) = (OutageLog::new(), false);
        log.failed.store(1, Ordering::Relaxed);
        log.state.lock().outage = Some(Outage {
            began: 0,
            answered: None,
            logged: 0,
            is_permission_logged: false,
            cause: StoreError::Reply,
        });
        let written = tracing::subscriber::with_default(Panics, || {
            crate::panics::survives(|| log.tick_at(1_000, || again = true))
        });
        assert_eq!((written, again), (false, true));
    }
}
