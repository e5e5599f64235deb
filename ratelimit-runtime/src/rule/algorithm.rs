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

/// How the permits of an algorithm come back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace<R = Rate, W = Duration> {
    /// A bucket's, all the time.
    Rate(R),
    /// A window's, when they leave it.
    Window(W),
}

/// What there is to know of an algorithm.
struct Facts {
    /// The kind, as the attribute has it.
    name: &'static str,
    /// A number for the kind: states of two kinds are never mixed.
    kind: u8,
    limit: u64,
    pace: Pace,
}

/// All that differs from one algorithm to the other as far as rules go is in the first two methods.
impl Algorithm {
    const fn facts(&self) -> Facts {
        match *self {
            Self::TokenBucket { capacity, refill } => {
                Facts { name: "token_bucket", kind: 1, limit: capacity, pace: Pace::Rate(refill) }
            }
            Self::LeakyBucket { capacity, leak } => {
                Facts { name: "leaky_bucket", kind: 2, limit: capacity, pace: Pace::Rate(leak) }
            }
            Self::FixedWindow { limit, window } => {
                Facts { name: "fixed_window", kind: 3, limit, pace: Pace::Window(window) }
            }
            Self::SlidingLog { limit, window } => {
                Facts { name: "sliding_log", kind: 4, limit, pace: Pace::Window(window) }
            }
            Self::SlidingCounter { limit, window, .. } => {
                Facts { name: "sliding_counter", kind: 5, limit, pace: Pace::Window(window) }
            }
        }
    }

    /// The numbers that all kinds have, to be changed.
    fn numbers_mut(&mut self) -> (&mut u64, Pace<&mut Rate, &mut Duration>) {
        match self {
            Self::TokenBucket { capacity, refill: rate }
            | Self::LeakyBucket { capacity, leak: rate } => (capacity, Pace::Rate(rate)),
            Self::FixedWindow { limit, window }
            | Self::SlidingLog { limit, window }
            | Self::SlidingCounter { limit, window, .. } => (limit, Pace::Window(window)),
        }
    }

    /// The capacity or limit: the most that one call may cost.
    pub const fn limit(&self) -> u64 {
        self.facts().limit
    }

    /// The capacity or limit, to be changed.
    pub(crate) fn limit_mut(&mut self) -> &mut u64 {
        self.numbers_mut().0
    }

    /// How the permits come back.
    pub(crate) const fn pace(&self) -> Pace {
        self.facts().pace
    }

    /// The rate of a bucket, to be changed.
    pub(crate) fn rate_mut(&mut self) -> Option<&mut Rate> {
        match self.numbers_mut().1 {
            Pace::Rate(rate) => Some(rate),
            Pace::Window(_) => None,
        }
    }

    /// The length of a window, to be changed.
    pub(crate) fn window_mut(&mut self) -> Option<&mut Duration> {
        match self.numbers_mut().1 {
            Pace::Window(window) => Some(window),
            Pace::Rate(_) => None,
        }
    }

    /// In how many parts a window is counted, to be changed.
    pub(crate) fn sub_windows_mut(&mut self) -> Option<&mut u32> {
        if let Self::SlidingCounter { sub_windows, .. } = self { Some(sub_windows) } else { None }
    }

    /// The name of the kind, as the attribute has it.
    pub(crate) const fn name(&self) -> &'static str {
        self.facts().name
    }

    /// A number for the kind: states of two kinds are never mixed.
    pub(super) const fn kind(&self) -> u8 {
        self.facts().kind
    }

    /// Whether both are of one kind.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.kind() == other.kind()
    }

    /// The limit, if it does not come with every call.
    pub(super) fn written_limit(&self) -> Option<u64> {
        Some(self.limit()).filter(|limit| *limit != PER_CALL)
    }

    /// How many permits a key has in the long run, if that does not come with every call.
    #[expect(clippy::cast_precision_loss, reason = "a board needs no more")]
    pub(super) fn per_second(&self) -> Option<f64> {
        let (permits, span) = match self.pace() {
            Pace::Rate(rate) => (Some(rate.permits).filter(|_| rate != PER_CALL_RATE), rate.period),
            Pace::Window(window) => (self.written_limit(), window),
        };
        let permits = permits.filter(|_| span != PER_CALL_WINDOW && !span.is_zero());
        permits.map(|permits| permits as f64 / span.as_secs_f64())
    }

    /// Whether each number is one, and none comes with every call.
    pub(super) const fn is_complete(&self) -> bool {
        let has_pace = match self.pace() {
            Pace::Rate(rate) => rate.permits != PER_CALL,
            Pace::Window(window) => window.as_secs() != PER_CALL_WINDOW.as_secs(),
        };
        has_pace && self.limit() != PER_CALL
    }

    /// Whether two rules have the same parameters, as far as these do not come with every call.
    ///
    /// Sub-windows do not matter to what is shared: counts move when their width changes.
    pub(super) fn has_parameters_of(&self, other: &Self) -> bool {
        let limits = [self.limit(), other.limit()];
        let pace = match (self.pace(), other.pace()) {
            (Pace::Rate(one), Pace::Rate(other)) => {
                one == other || [one, other].contains(&PER_CALL_RATE)
            }
            (Pace::Window(one), Pace::Window(other)) => {
                one == other || [one, other].contains(&PER_CALL_WINDOW)
            }
            (Pace::Rate(_), Pace::Window(_)) | (Pace::Window(_), Pace::Rate(_)) => false,
        };
        self.is_like(other) && pace && (self.limit() == other.limit() || limits.contains(&PER_CALL))
    }

    /// For two of one kind: the numbers that admit nothing that either would refuse. The smaller limit with
    /// the slower rate, or the longer window.
    pub(super) fn stricter(mut self, other: Self) -> Self {
        if !self.is_like(&other) {
            // No limiter lets a call have another kind than its rule.
            return self;
        }
        if let (
            Self::SlidingCounter { window: one, sub_windows, .. },
            Self::SlidingCounter { window: other, sub_windows: others, .. },
        ) = (&mut self, other)
        {
            // Those of the window that stays fit into it.
            *sub_windows = (*one, *sub_windows).max((other, others)).1;
        }
        let (limit, pace) = self.numbers_mut();
        *limit = other.limit().min(*limit);
        match (pace, other.pace()) {
            (Pace::Rate(rate), Pace::Rate(other)) => *rate = rate.slower(other),
            (Pace::Window(window), Pace::Window(other)) => *window = other.max(*window),
            (Pace::Rate(_), Pace::Window(_)) | (Pace::Window(_), Pace::Rate(_)) => {}
        }
        self
    }
}
