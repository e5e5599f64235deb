//! Rules to test with.

use std::sync::Arc;
use std::time::Duration;

use ratelimit_kit::{Algorithm, Rate, Rule};
use test_support::unique;

/// One of the five algorithms, without numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Starts full.
    TokenBucket,
    /// Starts empty.
    LeakyBucket,
    /// Opens with its first call.
    FixedWindow,
    /// Knows each admitted call.
    SlidingLog,
    /// Of two counters.
    SlidingCounter,
}

impl Kind {
    /// Each of them.
    pub const ALL: [Self; 5] = [
        Self::TokenBucket,
        Self::LeakyBucket,
        Self::FixedWindow,
        Self::SlidingLog,
        Self::SlidingCounter,
    ];

    /// With this limit, all of which is there again after `recovery`.
    pub fn recovering(self, limit: u64, recovery: Duration) -> Algorithm {
        match self {
            Self::TokenBucket | Self::LeakyBucket => self.with(limit, Rate::new(limit, recovery)),
            _ => self.with(limit, Rate::new(1, recovery)),
        }
    }

    /// With this limit, one permit of which comes back per `period`; windows last as long as it.
    pub fn per(self, limit: u64, period: Duration) -> Algorithm {
        self.with(limit, Rate::new(1, period))
    }

    fn with(self, limit: u64, rate: Rate) -> Algorithm {
        let window = rate.period();
        match self {
            Self::TokenBucket => Algorithm::TokenBucket { capacity: limit, refill: rate },
            Self::LeakyBucket => Algorithm::LeakyBucket { capacity: limit, leak: rate },
            Self::FixedWindow => Algorithm::FixedWindow { limit, window },
            Self::SlidingLog => Algorithm::SlidingLog { limit, window },
            Self::SlidingCounter => sliding_counter(limit, window),
        }
    }
}

/// A token bucket, in one line.
pub const fn token_bucket(capacity: u64, refill: Rate) -> Algorithm {
    Algorithm::TokenBucket { capacity, refill }
}

/// A leaky bucket, in one line.
pub fn leaky_bucket(capacity: u64, leak: Rate) -> Algorithm {
    Algorithm::LeakyBucket { capacity, leak }
}

/// A fixed window, in one line.
pub fn fixed_window(limit: u64, window: Duration) -> Algorithm {
    Algorithm::FixedWindow { limit, window }
}

/// A sliding log, in one line.
pub fn sliding_log(limit: u64, window: Duration) -> Algorithm {
    Algorithm::SlidingLog { limit, window }
}

/// The usual one, of two counters.
pub fn sliding_counter(limit: u64, window: Duration) -> Algorithm {
    Algorithm::SlidingCounter { limit, window, sub_windows: 1 }
}

/// A rule with a name that no other rule has.
pub fn rule(algorithm: Algorithm) -> Rule {
    Rule::named(Arc::<str>::from(unique("rule")), algorithm)
}

/// So many milliseconds.
pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// So many seconds.
pub const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A window that does not end during a test.
pub const HOUR: Duration = secs(3_600);
