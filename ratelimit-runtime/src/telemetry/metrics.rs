//! With the feature: the numbers.

mod described;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use metrics::{Key, Label, Metadata, Recorder, SharedString};

use super::series::OTHER;
use super::{Names, Said, Series};
use crate::degraded::Degraded;
use crate::driver;
use crate::error::{InvalidCall, StoreError};
use crate::panics::survives;

static METADATA: Metadata<'static> =
    Metadata::new("ratelimit", metrics::Level::INFO, Some(module_path!()));

/// The address of the recorder that was met last; 0: none.
static MET: AtomicUsize = AtomicUsize::new(0);

/// Lets the recorder have something. One that is new learns first what the numbers mean, and what
/// they are so far.
fn record(report: impl FnOnce(&dyn Recorder)) {
    metrics::with_recorder(|recorder| {
        let address = std::ptr::from_ref(recorder).cast::<()>().addr();
        if MET.load(Ordering::Relaxed) != address {
            meet(recorder, address);
        }
        report(recorder);
    });
}

#[cold]
fn meet(recorder: &dyn Recorder, address: usize) {
    if MET.swap(address, Ordering::Relaxed) == address {
        return;
    }
    described::describe(recorder);
    for level in [
        &ENTRIES,
        &MAX_ENTRIES,
        &OVERFLOW_BUDGETS,
        &IN_FLIGHT,
        #[cfg(feature = "redis")]
        &CONNECTIONS,
        #[cfg(feature = "redis")]
        &BREAKERS,
    ] {
        level.show(recorder);
    }
    for series in Names::of_process().all() {
        series.numbers.show(recorder);
    }
}

fn count(recorder: &dyn Recorder, key: &Key, by: u64) {
    recorder.register_counter(key, &METADATA).increment(by);
}

/// A gauge that goes up and down by steps. It is kept here as well, for a recorder that comes late.
#[derive(Debug)]
struct Level {
    key: Key,
    value: AtomicI64,
}

impl Level {
    const fn new(name: &'static str) -> Self {
        Self { key: Key::from_static_name(name), value: AtomicI64::new(0) }
    }

    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn add(&self, step: i64) {
        record(|recorder| {
            self.value.fetch_add(step, Ordering::Relaxed);
            let gauge = recorder.register_gauge(&self.key, &METADATA);
            if step < 0 { gauge.decrement(-step as f64) } else { gauge.increment(step as f64) }
        });
    }

    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn show(&self, recorder: &dyn Recorder) {
        let value = self.value.load(Ordering::Relaxed);
        recorder.register_gauge(&self.key, &METADATA).set(value as f64);
    }
}

static ENTRIES: Level = Level::new("ratelimit_embedded_entries");
static MAX_ENTRIES: Level = Level::new("ratelimit_embedded_max_entries");
static OVERFLOW_BUDGETS: Level = Level::new("ratelimit_embedded_overflow_budgets");
static IN_FLIGHT: Level = Level::new("ratelimit_in_flight");
#[cfg(feature = "redis")]
static CONNECTIONS: Level = Level::new("ratelimit_connections");
#[cfg(feature = "redis")]
static BREAKERS: Level = Level::new("ratelimit_breakers_open");

/// What became of a check.
#[derive(Clone, Copy)]
enum Word {
    Admitted,
    Limited,
    Shadowed,
    Undecided,
}

/// What is counted of one rule. The keys are made once.
#[derive(Debug)]
pub(crate) struct RuleNumbers {
    label: SharedString,
    /// One for each [`Word`].
    checks: [Key; 4],
    overflow: Key,
    limit: Gauge,
    per_second: Gauge,
}

/// A gauge that has a value as soon as there is one.
#[derive(Debug)]
struct Gauge {
    key: Key,
    /// The bits of a number; those of NaN: none.
    value: AtomicU64,
}

impl Gauge {
    fn new(key: Key) -> Self {
        Self { key, value: AtomicU64::new(f64::NAN.to_bits()) }
    }

    fn show(&self, recorder: &dyn Recorder) {
        let value = f64::from_bits(self.value.load(Ordering::Relaxed));
        if !value.is_nan() {
            recorder.register_gauge(&self.key, &METADATA).set(value);
        }
    }
}

impl RuleNumbers {
    pub(super) fn new(label: &Arc<str>) -> Self {
        let label = SharedString::from(Arc::clone(label));
        let key =
            |name: &'static str| Key::from_parts(name, vec![Label::new("rule", label.clone())]);
        let checks = ["admitted", "limited", "shadowed", "undecided"].map(|outcome| {
            let labels = vec![
                Label::new("rule", label.clone()),
                Label::from_static_parts("outcome", outcome),
            ];
            Key::from_parts("ratelimit_checks_total", labels)
        });
        Self {
            checks,
            overflow: key("ratelimit_embedded_overflow_total"),
            limit: Gauge::new(key("ratelimit_limit")),
            per_second: Gauge::new(key("ratelimit_limit_per_second")),
            label,
        }
    }

    fn check(&self, recorder: &dyn Recorder, word: Word) {
        if let Some(key) = self.checks.get(word as usize) {
            count(recorder, key, 1);
        }
    }

    fn show(&self, recorder: &dyn Recorder) {
        self.limit.show(recorder);
        self.per_second.show(recorder);
    }
}

impl Series {
    /// A rule with these numbers has come to the name: its limit, and how many permits a key has in the long
    /// run; `None` for what calls bring along.
    #[expect(clippy::cast_precision_loss, reason = "a board needs no more")]
    pub(crate) fn set_limit(&self, limit: Option<u64>, per_second: Option<f64>) {
        // Many rules have no common limit.
        if &**self.label() == OTHER {
            return;
        }
        let limit = limit.map(|limit| limit as f64);
        for (gauge, value) in [(&self.numbers.limit, limit), (&self.numbers.per_second, per_second)]
        {
            gauge.value.store(value.unwrap_or(f64::NAN).to_bits(), Ordering::Relaxed);
        }
        record(|recorder| self.numbers.show(recorder));
    }
}

/// A counter of calls with one outcome.
macro_rules! calls {
    ($($key:ident: $outcome:literal),+ $(,)?) => {
        $(static $key: Key = {
            static LABELS: [Label; 1] = [Label::from_static_parts("outcome", $outcome)];
            Key::from_static_parts("ratelimit_calls_total", &LABELS)
        };)+
    };
}

calls! {
    ADMITTED: "admitted",
    LIMITED: "limited",
    UNAVAILABLE: "unavailable",
    INVALID: "invalid",
}

/// What each rule said about a call, and whether the call was admitted.
pub(crate) fn decided<'s>(
    said: impl Iterator<Item = Said<'s>>,
    is_admitted: impl FnOnce() -> bool,
) {
    record(|recorder| {
        for (series, admits, is_shadow) in said {
            let word = match (admits, is_shadow) {
                (true, _) => Word::Admitted,
                (false, false) => Word::Limited,
                (false, true) => Word::Shadowed,
            };
            series.numbers.check(recorder, word);
        }
        let call = if is_admitted() { &ADMITTED } else { &LIMITED };
        count(recorder, call, 1);
    });
}

/// A call was decided without the store; `None`: it was not admitted for that.
pub(crate) fn degraded<'s>(
    rules: impl Iterator<Item = &'s Arc<Series>>,
    how: Option<Degraded>,
    cause: &StoreError,
) {
    let (policy, call) = match how {
        // Counted with what the embedded store decides.
        Some(Degraded::Local) => ("local", None),
        Some(Degraded::Open) => ("open", Some(&ADMITTED)),
        None => ("closed", Some(&UNAVAILABLE)),
    };
    let labels = [
        Label::from_static_parts("policy", policy),
        Label::from_static_parts("cause", cause.kind()),
    ];
    record(|recorder| {
        for series in rules {
            let numbers = &series.numbers;
            let mut labels = labels.to_vec();
            labels.insert(0, Label::new("rule", numbers.label.clone()));
            count(recorder, &Key::from_parts("ratelimit_degraded_total", labels), 1);
            if call.is_some() {
                numbers.check(recorder, Word::Undecided);
            }
        }
        let key = Key::from_parts("ratelimit_degraded_calls_total", labels.to_vec());
        count(recorder, &key, 1);
        if let Some(call) = call {
            count(recorder, call, 1);
        }
    });
}

/// A call was a mistake, its caller's or that of who has set up the limits.
pub(crate) fn mistaken(mistake: &InvalidCall) {
    let kind = vec![Label::from_static_parts("kind", mistake.kind())];
    record(|recorder| {
        count(recorder, &Key::from_parts("ratelimit_invalid_calls_total", kind), 1);
        count(recorder, &INVALID, 1);
    });
}

static OVERFLOW_LIMITED: Key = Key::from_static_name("ratelimit_embedded_overflow_limited_total");

/// A rule had no place for a new key in the embedded store. `refused`: not even an overflow budget.
pub(crate) fn overflowed(series: &Series, refused: bool) {
    record(|recorder| {
        count(recorder, &series.numbers.overflow, 1);
        if refused {
            count(recorder, &OVERFLOW_LIMITED, 1);
        }
    });
}

/// An embedded store holds a key more.
pub(crate) fn entry_added() {
    ENTRIES.add(1);
}

/// An embedded store holds so many keys less.
pub(crate) fn entries_gone(entries: usize) {
    if entries > 0 {
        ENTRIES.add(-steps(entries));
    }
}

/// There is an embedded store for so many keys, until this is dropped.
#[derive(Debug)]
pub(crate) struct Capacity(i64);

impl Capacity {
    pub(crate) fn new(max_keys: usize) -> Self {
        let max_keys = steps(max_keys);
        MAX_ENTRIES.add(max_keys);
        Self(max_keys)
    }
}

impl Drop for Capacity {
    fn drop(&mut self) {
        MAX_ENTRIES.add(-self.0);
    }
}

/// A full embedded store has another number of overflow budgets.
pub(crate) fn overflow_budgets(before: usize, after: usize) {
    if before != after {
        OVERFLOW_BUDGETS.add(steps(after) - steps(before));
    }
}

fn steps(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX / 2)
}

/// A question to the store: under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Asking(Instant);

impl Asking {
    pub(crate) fn new() -> Self {
        IN_FLIGHT.add(1);
        Self(Instant::now())
    }

    /// The store has answered, or has failed: after how long.
    pub(crate) fn ended<T>(&self, answer: &Result<T, StoreError>) -> Duration {
        static SECONDS: Key = Key::from_static_name("ratelimit_store_seconds");
        let took = self.0.elapsed();
        record(|recorder| {
            recorder.register_histogram(&SECONDS, &METADATA).record(took);
            if let Err(error) = answer {
                let kind = vec![Label::from_static_parts("kind", error.kind())];
                count(recorder, &Key::from_parts("ratelimit_store_errors_total", kind), 1);
            }
        });
        took
    }

    /// Its caller has left, and this is the limiter's own thread, which waits for no recorder: another one
    /// takes them out of the number, all there are at once.
    pub(crate) fn leave(self) {
        static LEFT: AtomicI64 = AtomicI64::new(0);
        mem::forget(self);
        if LEFT.fetch_add(1, Ordering::Relaxed) == 0 {
            driver::later(Duration::ZERO, || {
                loop {
                    let left = LEFT.load(Ordering::Relaxed);
                    unharmed(|| IN_FLIGHT.add(-left));
                    if LEFT.fetch_sub(left, Ordering::Relaxed) == left {
                        break;
                    }
                }
            });
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        IN_FLIGHT.add(-1);
    }
}

/// For what the limiter's own thread reports: a recorder that panics must not end the task that keeps
/// a connection. Where a caller's thread reports, the panic is the caller's.
fn unharmed(report: impl FnOnce()) {
    survives(report);
}

/// A server is tried.
#[cfg(feature = "redis")]
pub(crate) fn connecting() {
    static ATTEMPTS: Key = Key::from_static_name("ratelimit_connection_attempts_total");
    unharmed(|| record(|recorder| count(recorder, &ATTEMPTS, 1)));
}

/// What is known of a server: a connection, an open breaker, or at first neither. Gone when this is
/// dropped.
#[cfg(feature = "redis")]
#[derive(Debug)]
pub(crate) struct Server(Now);

#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Now {
    Unknown,
    Up,
    Down,
}

#[cfg(feature = "redis")]
impl Server {
    pub(crate) const fn new() -> Self {
        Self(Now::Unknown)
    }

    /// There is a connection, and calls go through.
    pub(crate) fn up(&mut self) {
        self.is(Now::Up);
    }

    /// Calls are not sent: the breaker is open.
    pub(crate) fn down(&mut self) {
        self.is(Now::Down);
    }

    fn is(&mut self, now: Now) {
        let before = std::mem::replace(&mut self.0, now);
        if before != now {
            unharmed(|| before.add(-1));
            unharmed(|| now.add(1));
        }
    }
}

#[cfg(feature = "redis")]
impl Now {
    fn add(self, step: i64) {
        match self {
            Self::Unknown => {}
            Self::Up => CONNECTIONS.add(step),
            Self::Down => BREAKERS.add(step),
        }
    }
}

#[cfg(feature = "redis")]
impl Drop for Server {
    fn drop(&mut self) {
        self.is(Now::Unknown);
    }
}
