//! [`Tally`]: what the log says of the calls that a rule did not simply admit: counts, a few lines at
//! a time.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrayvec::ArrayString;
use once_cell::sync::Lazy;
use parking_lot::Mutex;

use crate::degraded::Degraded;
use crate::event::{LimitEvent, LimitEventKind};

/// From one line of a rule to the next, in milliseconds.
const INTERVAL: u64 = 10_000;

/// So many keys of a rule have a line of their own in each interval.
const MAX_KEYS: usize = 8;

/// So much of a key is in a line. Keys have 200 bytes at most, and are not cut unless they have
/// characters that a log cannot show as they are.
const MAX_KEY: usize = 300;

/// One number for each kind of event.
const KINDS: usize = 5;

/// One in so many calls looks at the clock, although somebody else will write the next line: after a
/// fork nobody does.
const OVERDUE_LOOK: u64 = 256;

/// The calls of a rule since its last line.
///
/// The first one writes a line at once. Later ones only count, and the limiter's own thread writes
/// the lines when the interval is over; without that thread, calls do.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Those that are in no sample.
    counts: [AtomicU64; KINDS],
    /// How many calls have only counted.
    seen: AtomicU64,
    /// Whether the limiter's own thread will write the next lines.
    pub(super) is_scheduled: AtomicBool,
    /// When the next line may be.
    next_line: AtomicU64,
    /// The first keys since the last line, when the limiter may log them.
    sample: Mutex<Vec<OfKey>>,
}

/// What a call that has counted does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Look {
    /// Somebody else writes the next lines.
    None,
    /// Nobody is scheduled so far.
    First,
    /// Somebody is, if not too late.
    IfOverdue,
}

/// The calls with one key.
struct OfKey {
    kind: LimitEventKind,
    key: String,
    limit: u64,
    cost: u64,
    retry_after: Option<Duration>,
    degraded: Option<Degraded>,
    calls: u64,
}

impl fmt::Debug for OfKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the key.
        f.debug_struct("OfKey").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Milliseconds since the first use in this process.
pub(super) fn now() -> u64 {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Tally {
    /// Counts a call.
    pub(super) fn count(&self, event: &LimitEvent<'_>, with_key: bool) -> Look {
        if !(with_key && self.is_in_sample(event)) {
            let [limited, shadowed, open, unavailable, invalid] = &self.counts;
            let count = match event.kind {
                LimitEventKind::Limited => limited,
                LimitEventKind::Shadowed => shadowed,
                LimitEventKind::Open => open,
                LimitEventKind::Unavailable => unavailable,
                LimitEventKind::Invalid => invalid,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
        // A plain read first: under attack all threads come here.
        let is_scheduled = self.is_scheduled.load(Ordering::Relaxed)
            || self.is_scheduled.swap(true, Ordering::Relaxed);
        if !is_scheduled {
            Look::First
        } else if self.seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(OVERDUE_LOOK) {
            Look::IfOverdue
        } else {
            Look::None
        }
    }

    fn is_in_sample(&self, event: &LimitEvent<'_>) -> bool {
        let (kind, key) = (event.kind, event.key.as_str());
        let mut sample = self.sample.lock();
        if let Some(of_key) = sample.iter_mut().find(|of| of.kind == kind && of.key == key) {
            of_key.calls += 1;
            of_key.retry_after = event.retry_after;
            return true;
        }
        let has_room = sample.len() < MAX_KEYS;
        if has_room {
            sample.push(OfKey {
                kind,
                key: key.to_owned(),
                limit: event.limit,
                cost: event.cost,
                retry_after: event.retry_after,
                degraded: event.degraded,
                calls: 1,
            });
        }
        has_room
    }

    /// Writes what is due, for a call that has counted. In how long somebody has to write the next lines;
    /// `None`: somebody is scheduled.
    pub(super) fn look(&self, look: Look, now: u64, rule: &str) -> Option<Duration> {
        let next = self.next_line.load(Ordering::Relaxed);
        let is_scheduled = match look {
            Look::None => true,
            Look::First => false,
            Look::IfOverdue => now < next + INTERVAL,
        };
        if is_scheduled {
            return None;
        }
        let is_ours = now >= next
            && self
                .next_line
                .compare_exchange(next, now + INTERVAL, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_ours {
            self.write(rule);
        }
        let next = self.next_line.load(Ordering::Relaxed);
        Some(Duration::from_millis(next.saturating_sub(now)))
    }

    /// Writes what is due at the end of an interval. In how long the next lines are; `None`: nobody
    /// is scheduled any more.
    pub(super) fn tick(&self, now: u64, rule: &str) -> Option<Duration> {
        self.next_line.fetch_max(now + INTERVAL, Ordering::Relaxed);
        if self.write(rule) {
            return Some(Duration::from_millis(INTERVAL));
        }
        self.is_scheduled.store(false, Ordering::SeqCst);
        // A call that has counted before that has left its line to us.
        let has_more = self.counts.iter().any(|count| count.load(Ordering::SeqCst) > 0)
            || !self.sample.lock().is_empty();
        let is_ours = has_more && !self.is_scheduled.swap(true, Ordering::SeqCst);
        is_ours.then_some(Duration::from_millis(INTERVAL))
    }

    /// Writes all there is; whether that was something. No lock is held meanwhile: what takes the log
    /// may be limited too.
    fn write(&self, rule: &str) -> bool {
        let sample = std::mem::take(&mut *self.sample.lock());
        for of_key in &sample {
            of_key.write(rule);
        }
        let counts = self.counts.each_ref().map(|count| count.swap(0, Ordering::Relaxed));
        let [limited, shadowed, open, unavailable, invalid] =
            counts.map(|count| (count > 0).then_some(count));
        let is_some = counts.iter().any(|count| *count > 0);
        if is_some {
            tracing::info!(
                rule,
                limited,
                shadowed,
                open,
                unavailable,
                invalid,
                "rate limit: calls since the last line"
            );
        }
        is_some || !sample.is_empty()
    }
}

impl OfKey {
    fn write(&self, rule: &str) {
        // Escaped here, so that a formatter does not make it longer.
        let mut key = ArrayString::<MAX_KEY>::new();
        for c in self.key.chars().flat_map(char::escape_debug) {
            if write!(key, "{c}").is_err() {
                break;
            }
        }
        let of = |kind| (self.kind == kind).then_some(self.calls);
        let decided_by = match (self.kind, self.degraded) {
            (LimitEventKind::Unavailable | LimitEventKind::Invalid, _)
            | (_, Some(Degraded::Open)) => "nobody",
            (_, Some(Degraded::Local)) => "local",
            (_, None) => "store",
        };
        tracing::info!(
            rule,
            %key,
            limit = self.limit,
            cost = self.cost,
            retry_after = self.retry_after.map(tracing::field::debug),
            decided_by,
            limited = of(LimitEventKind::Limited),
            shadowed = of(LimitEventKind::Shadowed),
            open = of(LimitEventKind::Open),
            unavailable = of(LimitEventKind::Unavailable),
            invalid = of(LimitEventKind::Invalid),
            "rate limit: calls with one key since the last line"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::LimitKey;
    use crate::telemetry::lines::during;

    fn refused(key: &LimitKey) -> LimitEvent<'_> {
        LimitEvent {
            kind: LimitEventKind::Limited,
            rule: "rule",
            key,
            limit: 10,
            cost: 1,
            retry_after: Some(Duration::from_mins(1)),
            degraded: None,
        }
    }

    /// The lines about a refusal every 100 µs for 10 s, by 20 keys in turn, and the interval after it.
    fn lines(with_key: bool, has_thread: bool) -> Vec<String> {
        let (tally, mut tick) = (Tally::default(), None);
        let keys: Vec<_> = (0..20).map(LimitKey::from).collect();
        during(|| {
            for (n, key) in (0..100_000_u64).zip(keys.iter().cycle()) {
                let now = n / 10;
                if tick.is_some_and(|tick| now >= tick) {
                    tick = tally.tick(now, "rule").map(|_| now + INTERVAL);
                }
                let look = tally.count(&refused(key), with_key);
                if let Some(next) = tally.look(look, now, "rule") {
                    assert_eq!(tick, None, "somebody is scheduled");
                    let next = now + u64::try_from(next.as_millis()).unwrap();
                    tick = has_thread.then_some(next);
                    tally.is_scheduled.store(has_thread, Ordering::Relaxed);
                }
            }
            for now in 10_000..40_000 {
                if tick.is_some_and(|tick| now >= tick) {
                    tick = tally.tick(now, "rule").map(|_| now + INTERVAL);
                }
            }
            assert_eq!(tick, None, "nothing is left to log");
        })
    }

    fn sum(lines: &[String]) -> u64 {
        let fields = lines.iter().flat_map(|line| line.split(' '));
        let numbers = fields.filter_map(|field| field.strip_prefix("limited="));
        numbers.map(|number| number.parse::<u64>().unwrap()).sum()
    }

    #[test]
    fn b105_a_flood_of_refusals_is_two_lines() {
        let lines = lines(false, true);
        assert_eq!((lines.len(), sum(&lines)), (2, 100_000), "{lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("INFO ")), "{lines:?}");
        assert!(lines[1].contains("rule=\"rule\" limited=99999"), "{lines:?}");
    }

    #[test]
    fn b162_keys_are_sampled_and_the_counts_add_up() {
        let lines = lines(true, true);
        assert_eq!((lines.len(), sum(&lines)), (1 + MAX_KEYS + 1, 100_000), "{lines:?}");
        assert!(lines[1].contains("key=1 limit=10 cost=1 retry_after=60s"), "{lines:?}");
        assert!(!lines.last().unwrap().contains("key="), "{lines:?}");
    }

    /// As where the operating system gives none. What came last is in the next line, if one comes.
    #[test]
    fn calls_write_the_lines_when_there_is_no_thread() {
        let lines = lines(false, false);
        assert!((1..=2).contains(&lines.len()), "{lines:?}");
    }

    #[test]
    fn calls_write_the_lines_when_the_thread_is_gone() {
        let (tally, key) = (Tally::default(), LimitKey::from("key"));
        let lines = during(|| {
            for now in 0..30_000 {
                let look = tally.count(&refused(&key), false);
                tally.look(look, now, "rule");
            }
        });
        assert_eq!(lines.len(), 2, "{lines:?}");
    }

    #[test]
    fn b105_no_line_is_long_or_has_control_characters() {
        for text in ["\u{1b}[31m\r\n", "\u{e000}", "é", "\u{301}", "\"\\"] {
            let text = text.repeat(10_000);
            let key = LimitKey::from(text.as_str());
            let rule = crate::name::bounded(text.as_str().into());
            let tally = Tally::default();
            let lines = during(|| {
                let look = tally.count(&refused(&key), true);
                tally.look(look, 0, &rule);
            });
            // A hundred more for the time and the target.
            assert!(lines.len() == 1 && lines[0].len() <= 900, "{lines:?}");
            assert!(!lines[0].contains(char::is_control), "{lines:?}");
        }
    }
}
