//! How a rule counts, and its numbers.

use std::time::Duration;

/// Stands in a rule for a count that every call brings along. No rule can have it for a number.
pub const PER_CALL: u64 = u64::MAX;
/// Stands in a rule for a rate that every call brings along.
pub const PER_CALL_RATE: Rate = Rate::per_second(PER_CALL);
/// Stands in a rule for a window that every call brings along.
pub const PER_CALL_WINDOW: Duration = Duration::MAX;

/// How fast permits come back: so many per period, spread evenly over it.
///
/// ```
/// # use ratelimit_runtime::Rate;
/// # use std::time::Duration;
/// assert_eq!(Rate::per_second(5), Rate::new(5, Duration::from_secs(1)));
/// let one_in_15_s = Rate::new(1, Duration::from_secs(15));
/// assert_eq!(one_in_15_s.period(), Duration::from_secs(15));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    permits: u64,
    period: Duration,
}

impl Rate {
    /// So many permits in every period. Checked where the rate is used: at least one permit, a
    /// period of 1 µs to 2^52 µs (142 years) in whole microseconds.
    pub const fn new(permits: u64, period: Duration) -> Self {
        Self { permits, period }
    }

    /// So many permits a second.
    pub const fn per_second(permits: u64) -> Self {
        Self::new(permits, Duration::from_secs(1))
    }

    /// So many permits a minute.
    pub const fn per_minute(permits: u64) -> Self {
        Self::new(permits, Duration::from_mins(1))
    }

    /// So many permits an hour.
    pub const fn per_hour(permits: u64) -> Self {
        Self::new(permits, Duration::from_hours(1))
    }

    /// So many permits in 24 hours.
    pub const fn per_day(permits: u64) -> Self {
        Self::new(permits, Duration::from_hours(24))
    }

    /// How many permits come back in one period.
    pub const fn permits(self) -> u64 {
        self.permits
    }

    /// The period in which they come back.
    pub const fn period(self) -> Duration {
        self.period
    }

    /// The slower of two.
    fn slower(self, other: Self) -> Self {
        let times = |one: Self, other: Self| {
            u128::from(one.permits).saturating_mul(other.period.as_nanos())
        };
        if times(other, self) < times(self, other) { other } else { self }
    }
}

/// How a rule counts, with its numbers. The definitions are in `tests/vectors/README.md` of the
/// repository; the guide says which one to choose.
///
/// Counts are 0 to 2^53 − 1 (a limit of 0 refuses every call). Windows are 1 µs to 2^52 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Up to `capacity` at once, and `refill` in the long run. A fresh key has the full capacity.
    TokenBucket {
        /// How many permits fit into the bucket.
        capacity: u64,
        /// How fast it fills.
        refill: Rate,
    },
    /// A line of up to `capacity` that moves on at the constant rate `leak`; an admitted call
    /// learns its [`delay`](crate::Outcome::delay).
    LeakyBucket {
        /// How many permits may be in line.
        capacity: u64,
        /// How fast the line moves.
        leak: Rate,
    },
    /// `limit` in a window that opens with the first call and is forgotten when it ends.
    FixedWindow {
        /// How many permits a window has.
        limit: u64,
        /// How long a window is open.
        window: Duration,
    },
    /// Never more than `limit` in any span of `window`: every admitted call is remembered, up to
    /// 1,000,000 a key.
    SlidingLog {
        /// How many permits in any span of one window; 1,000,000 at most.
        limit: u64,
        /// The length of that span.
        window: Duration,
    },
    /// Close to the sliding log for the price of a few counters: the last `sub_windows` parts of
    /// the window in full, and the one before them in proportion.
    SlidingCounter {
        /// How many permits a window has.
        limit: u64,
        /// The length of the window.
        window: Duration,
        /// In how many parts the window is counted: 1 to 100.
        sub_windows: u32,
    },
}

impl Algorithm {
    /// The capacity or limit: the most that one call may cost.
    pub const fn limit(&self) -> u64 {
        match *self {
            Self::TokenBucket { capacity, .. } | Self::LeakyBucket { capacity, .. } => capacity,
            Self::FixedWindow { limit, .. }
            | Self::SlidingLog { limit, .. }
            | Self::SlidingCounter { limit, .. } => limit,
        }
    }
}

impl Algorithm {
    /// Whether each number is one, and none comes with every call.
    pub(super) const fn is_complete(&self) -> bool {
        let has_rest = match *self {
            Self::TokenBucket { refill: rate, .. } | Self::LeakyBucket { leak: rate, .. } => {
                rate.permits != PER_CALL
            }
            Self::FixedWindow { window, .. }
            | Self::SlidingLog { window, .. }
            | Self::SlidingCounter { window, .. } => window.as_secs() != PER_CALL_WINDOW.as_secs(),
        };
        has_rest && self.limit() != PER_CALL
    }

    /// For two of one kind: the numbers that admit nothing that either would refuse. The smaller limit with
    /// the slower rate, or the longer window.
    pub(super) fn stricter(self, other: Self) -> Self {
        let least = self.limit().min(other.limit());
        match (self, other) {
            (Self::TokenBucket { refill: one, .. }, Self::TokenBucket { refill: other, .. }) => {
                Self::TokenBucket { capacity: least, refill: one.slower(other) }
            }
            (Self::LeakyBucket { leak: one, .. }, Self::LeakyBucket { leak: other, .. }) => {
                Self::LeakyBucket { capacity: least, leak: one.slower(other) }
            }
            (Self::FixedWindow { window: one, .. }, Self::FixedWindow { window: other, .. }) => {
                Self::FixedWindow { limit: least, window: one.max(other) }
            }
            (Self::SlidingLog { window: one, .. }, Self::SlidingLog { window: other, .. }) => {
                Self::SlidingLog { limit: least, window: one.max(other) }
            }
            (
                Self::SlidingCounter { window: one, sub_windows, .. },
                Self::SlidingCounter { window: other, sub_windows: others, .. },
            ) => {
                // Those of the window that stays fit into it.
                let (window, sub_windows) = (one, sub_windows).max((other, others));
                Self::SlidingCounter { limit: least, window, sub_windows }
            }
            // No limiter lets a call have another kind than its rule.
            (one, _) => one,
        }
    }

    /// The name of the kind, as the attribute has it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::TokenBucket { .. } => "token_bucket",
            Self::LeakyBucket { .. } => "leaky_bucket",
            Self::FixedWindow { .. } => "fixed_window",
            Self::SlidingLog { .. } => "sliding_log",
            Self::SlidingCounter { .. } => "sliding_counter",
        }
    }

    /// A number for the kind: states of two kinds are never mixed.
    pub(super) const fn kind(&self) -> u8 {
        match self {
            Self::TokenBucket { .. } => 1,
            Self::LeakyBucket { .. } => 2,
            Self::FixedWindow { .. } => 3,
            Self::SlidingLog { .. } => 4,
            Self::SlidingCounter { .. } => 5,
        }
    }
}
