//! Whose time decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use once_cell::sync::Lazy;

use self::elapsed::Origin;

/// Whose time decides.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// The store's: the Redis server's, or for the embedded store the monotonic clock of this
    /// machine. All instances agree, whatever their own clocks say.
    #[default]
    Server,
    /// This process', also for Redis: the machine's monotonic clock, set by the wall clock once, at
    /// the first use. Instances whose clocks differ see different budgets.
    ///
    /// Time that the machine sleeps counts, on Linux, Android, OpenBSD, Apple's systems and Windows:
    /// a budget recovers meanwhile. A step of the wall clock counts nowhere.
    Caller,
    /// One that stands still until it is moved, for tests.
    Manual(ManualClock),
}

impl Clock {
    /// Nanoseconds since the Unix epoch.
    pub(crate) fn now_ns(&self) -> i64 {
        match self {
            Self::Server | Self::Caller => monotonic_ns(),
            Self::Manual(clock) => clock.now_ns(),
        }
    }

    /// The time to send to a store that has a clock of its own: `None` means use that.
    #[cfg(feature = "redis")]
    pub(crate) fn sent_ns(&self) -> Option<i64> {
        match self {
            Self::Server => None,
            Self::Caller | Self::Manual(_) => Some(self.now_ns()),
        }
    }
}

/// The monotonic clock, anchored once at the wall clock: a later step of the wall clock, which an
/// operator or a time service may make, moves nobody's budget.
fn monotonic_ns() -> i64 {
    static ORIGIN: Lazy<(Origin, i64)> = Lazy::new(|| {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (Origin::now(), whole_ns(wall))
    });
    let (start, wall) = *ORIGIN;
    wall.saturating_add(whole_ns(start.elapsed()))
}

/// A moment from which time is measured, that during which the machine sleeps included: what
/// [`std::time::Instant`] does not do everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(i64);

impl Moment {
    /// This moment.
    pub(crate) fn now() -> Self {
        Self(monotonic_ns())
    }

    /// How long ago it was.
    pub(crate) fn elapsed(self) -> Duration {
        let ns = monotonic_ns().saturating_sub(self.0);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
    }
}

/// Clocks that go on while the machine sleeps: `Instant` stands still meanwhile on all of these.
///
/// Through the C library, as the standard library does: that reads them without a system call.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "openbsd",
    target_vendor = "apple"
))]
mod elapsed {
    use std::time::{Duration, Instant};

    use rustix::time::{DynamicClockId, clock_gettime_dynamic};

    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: DynamicClockId<'static> = DynamicClockId::Boottime;
    /// It goes on there, and `Instant` is another one.
    #[cfg(target_vendor = "apple")]
    const CLOCK: DynamicClockId<'static> = DynamicClockId::Known(rustix::time::ClockId::Monotonic);

    /// Where measuring begins.
    #[derive(Clone, Copy, Debug)]
    pub(super) enum Origin {
        SinceBoot(Duration),
        /// A sandbox may have taken that clock away.
        WhileAwake(Instant),
    }

    impl Origin {
        pub(super) fn now() -> Self {
            since_boot().map_or_else(|| Self::WhileAwake(Instant::now()), Self::SinceBoot)
        }

        pub(super) fn elapsed(self) -> Duration {
            match self {
                // A clock that was there once does not fail later.
                Self::SinceBoot(start) => since_boot().unwrap_or(start).saturating_sub(start),
                Self::WhileAwake(start) => start.elapsed(),
            }
        }
    }

    fn since_boot() -> Option<Duration> {
        Duration::try_from(clock_gettime_dynamic(CLOCK).ok()?).ok()
    }
}

/// Windows counts sleep in `Instant`; of the others it is not known, or there is no other clock.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "openbsd",
    target_vendor = "apple"
)))]
mod elapsed {
    use std::time::{Duration, Instant};

    /// Where measuring begins.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Origin(Instant);

    impl Origin {
        pub(super) fn now() -> Self {
            Self(Instant::now())
        }

        pub(super) fn elapsed(self) -> Duration {
            self.0.elapsed()
        }
    }
}

fn whole_ns(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// A clock that stands still until it is moved. Clones share one time.
///
/// ```
/// # use ratelimit_runtime::ManualClock;
/// # use std::time::Duration;
/// let clock = ManualClock::new();
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(clock.since_epoch(), Duration::from_secs(2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    ns: AtomicI64,
    moved: tokio::sync::Notify,
}

impl ManualClock {
    /// A clock that shows the Unix epoch.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long after the Unix epoch the clock shows.
    pub fn since_epoch(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.now_ns()).unwrap_or(0))
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.shared.ns.fetch_add(whole_ns(by), Ordering::SeqCst);
        self.shared.moved.notify_waiters();
    }

    /// Sets the clock, back as well.
    pub fn set(&self, since_epoch: Duration) {
        self.shared.ns.store(whole_ns(since_epoch), Ordering::SeqCst);
        self.shared.moved.notify_waiters();
    }

    fn now_ns(&self) -> i64 {
        self.shared.ns.load(Ordering::SeqCst)
    }

    /// Waits until the clock has been moved on by so much.
    pub(crate) async fn sleep(&self, span: Duration) {
        let until = self.now_ns().saturating_add(whole_ns(span));
        loop {
            // Enlisted before the look at the time, so that no move in between is missed.
            let moved = self.shared.moved.notified();
            if self.now_ns() >= until {
                return;
            }
            moved.await;
        }
    }
}
