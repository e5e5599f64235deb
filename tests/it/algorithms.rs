//! Rules to test with.

use std::sync::Arc;
use std::time::Duration;

use ratelimit_kit::{Algorithm, Rate, Rule};
use test_support::unique;

/// One of the five algorithms, without numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    TokenBucket,
    LeakyBucket,
    FixedWindow,
    SlidingLog,
    SlidingCounter,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [
        Self::TokenBucket,
        Self::LeakyBucket,
        Self::FixedWindow,
        Self::SlidingLog,
        Self::SlidingCounter,
    ];

    /// With this limit, all of which is there again after `recovery`.
    pub(crate) fn recovering(self, limit: u64, recovery: Duration) -> Algorithm {
        match self {
            Self::TokenBucket | Self::LeakyBucket => self.with(limit, Rate::new(limit, recovery)),
            _ => self.with(limit, Rate::new(1, recovery)),
        }
    }

    /// With this limit, one permit of which comes back per `period`; windows last as long as it.
    pub(crate) fn per(self, limit: u64, period: Duration) -> Algorithm {
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

pub(crate) const fn token_bucket(capacity: u64, refill: Rate) -> Algorithm {
    Algorithm::TokenBucket { capacity, refill }
}

pub(crate) fn leaky_bucket(capacity: u64, leak: Rate) -> Algorithm {
    Algorithm::LeakyBucket { capacity, leak }
}

pub(crate) fn fixed_window(limit: u64, window: Duration) -> Algorithm {
    Algorithm::FixedWindow { limit, window }
}

pub(crate) fn sliding_log(limit: u64, window: Duration) -> Algorithm {
    Algorithm::SlidingLog { limit, window }
}

/// The usual one, of two counters.
pub(crate) fn sliding_counter(limit: u64, window: Duration) -> Algorithm {
    Algorithm::SlidingCounter { limit, window, sub_windows: 1 }
}

/// A rule with a name that no other rule has.
pub(crate) fn rule(algorithm: Algorithm) -> Rule {
    Rule::named(Arc::<str>::from(unique("rule")), algorithm)
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) const HOUR: Duration = secs(3_600);
